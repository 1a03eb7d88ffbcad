;; A loop that goes on if a condition holds, and it always does.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again (br_if $again (i32.const 1)))
    (i32.const 0)))
