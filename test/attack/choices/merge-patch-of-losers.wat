;; A patch that comes with no winner: it must not be applied to anybody.
;; merge answers: reject
(module
  (import "wardlet1" "patch" (func $patch (param i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "[{\"op\":\"remove\",\"path\":\"/spec\"}]")
  (func (export "wardlet_merge") (result i32)
    (call $patch (i32.const 8) (i32.const 32))
    (i32.const -2)))
