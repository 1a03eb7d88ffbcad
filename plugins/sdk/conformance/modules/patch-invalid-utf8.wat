;; A patch that is not valid UTF-8.
(module
  (import "wardlet1" "patch" (func $patch (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "[{\22op\22:\22remove\22,\22path\22:\22/\ff\22}]")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call $patch (i32.const 0) (i32.const 29))
    (i32.const 0)))
