;; It wants a field that takes 64 KiB, in an area of 1 KiB.
;; ends: InputTooLarge the declared fields take
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "object.metadata.annotations")
  (data (i32.const 1024) "\00\04\00\00")
  (func (export "wardlet_init") (result i32)
    (i32.ne (call $path (i32.const 8) (i32.const 27)) (i32.const 0)))
  (func (export "wardlet_input") (result i32) (i32.const 1024))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
