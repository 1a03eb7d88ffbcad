;; A reason of 10 MB.
;; pages: 160
;; ends: BadOutput the plugin put out more than its policy allows
(module
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (memory (export "memory") 160)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (memory.fill (i32.const 0) (i32.const 0x61) (i32.const 1000))
    (call $reason (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 10000000))
    (i32.const 1)))
