;; Reasons of 1 000 bytes, again and again: each replaces the one before, and counts.
;; ends: BadOutput the plugin put out more than its policy allows
(module
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (call $reason (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1000))
      (br $again))
    (unreachable)))
