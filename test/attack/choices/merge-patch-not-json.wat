;; A patch that is none, with no winner.
;; merge ends: BadOutput patch
(module
  (import "wardlet1" "patch" (func $patch (param i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "[{\"op\":\"move\"}]")
  (func (export "wardlet_merge") (result i32)
    (call $patch (i32.const 8) (i32.const 15))
    (i32.const -2)))
