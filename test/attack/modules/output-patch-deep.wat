;; A patch of 60 000 opening brackets.
;; ends: BadOutput patch
(module
  (import "wardlet1" "patch" (func $patch (param i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (memory.fill (i32.const 0) (i32.const 0x5b) (i32.const 60000))
    (call $patch (i32.const 0) (i32.const 60000))
    (i32.const 0)))
