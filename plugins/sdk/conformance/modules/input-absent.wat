;; A path is declared, but wardlet_input does not say where its value shall go.
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "object.metadata.name")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_init") (result i32) (call $path (i32.const 0) (i32.const 20)))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
