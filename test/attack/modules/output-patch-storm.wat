;; Patches without an operation, for ever.
;; ends: FuelExhausted the call took more than
(module
  (import "wardlet1" "patch" (func $patch (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "[]")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (call $patch (i32.const 8) (i32.const 2))
      (br $again))
    (unreachable)))
