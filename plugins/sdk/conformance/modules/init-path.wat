;; wardlet_init declares a path that names no field, and refuses with what path gave.
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "object.spec.nowhere")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_init") (result i32) (call $path (i32.const 0) (i32.const 19)))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
