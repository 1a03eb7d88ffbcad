;; A patch that is no JSON, and not UTF-8.
;; ends: BadOutput patch
(module
  (import "wardlet1" "patch" (func $patch (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "[{\22op\22:\22\ff\fe\22}]")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call $patch (i32.const 8) (i32.const 14))
    (i32.const 0)))
