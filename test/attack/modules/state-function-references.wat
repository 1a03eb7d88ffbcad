;; ref.func: the engine keeps something for each that is made, until the instance ends.
;; refused: AbiMismatch ref.func: what the engine keeps
(module
  (memory (export "memory") 1)
  (elem declare func 0)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (local $n i32)
    (loop $again
      (drop (ref.func 0))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $n) (i32.const 500000))))
    (i32.const 0)))
