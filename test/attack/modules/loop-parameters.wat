;; A loop that takes operands and leaves them for its next turn.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)
    (i64.const 1)
    (loop $again (param i32 i64) (result i32)
      (i64.const 3)
      (i64.mul)
      (br $again))))
