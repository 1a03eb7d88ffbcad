;; Reasons without a byte, for ever.
;; ends: FuelExhausted the call took more than
(module
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (call $reason (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))
      (br $again))
    (unreachable)))
