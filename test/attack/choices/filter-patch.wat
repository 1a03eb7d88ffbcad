;; A patch in a hook that has none: it is looked at, and must not be applied.
;; filter answers: pass
(module
  (import "wardlet1" "patch" (func $patch (param i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "[{\"op\":\"remove\",\"path\":\"/spec\"}]")
  (func (export "wardlet_filter") (result i32)
    (call $patch (i32.const 8) (i32.const 32))
    (i32.const 0)))
