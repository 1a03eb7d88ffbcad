;; Warnings without a byte, for ever.
;; ends: BadOutput more than 64 warnings
(module
  (import "wardlet1" "warn" (func $warn (param i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (call $warn (i32.const 0) (i32.const 0))
      (br $again))
    (unreachable)))
