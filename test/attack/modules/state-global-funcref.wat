;; A mutable global of type funcref.
;; refused: AbiMismatch it is mutable and of type funcref
(module
  (memory (export "memory") 1)
  (global $a (mut funcref) (ref.null func))
  (elem declare func 0)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (global.set $a (ref.func 0))
    (i32.const 0)))
