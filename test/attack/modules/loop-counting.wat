;; A loop with an end, after 2^63 turns.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $n i64)
    (loop $again
      (br_if $again (i64.lt_s (local.tee $n (i64.add (local.get $n) (i64.const 1))) (i64.const 0x7fffffffffffffff))))
    (i32.const 0)))
