;; A patch that is none, in a hook that has none.
;; filter ends: BadOutput patch
(module
  (import "wardlet1" "patch" (func $patch (param i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "secret")
  (func (export "wardlet_filter") (result i32)
    (call $patch (i32.const 8) (i32.const 6))
    (i32.const 0)))
