;; A message of 4095 letters and one character of two bytes: it is cut before that.
(module
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (memory.fill (i32.const 0) (i32.const 97) (i32.const 4095))
    (i32.store16 (i32.const 4095) (i32.const 0xa4c3))
    (call $reason (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 4097))
    (i32.const 1)))
