;; An input area of 32 bytes: room for a name of 23 bytes, beside 2 for the number of fields, 2 for the handle and 5 before the
;; text. It stands at the end of the memory.
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "object.metadata.name")
  (data (i32.const 0xffd8) "\20\00\00\00")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_init") (result i32) (call $path (i32.const 0) (i32.const 20)))
  (func (export "wardlet_input") (result i32) (i32.const 0xffd8))
  (func (export "wardlet_admit") (result i32)
    (call $explain (i32.const 0xffe9) (i32.load (i32.const 0xffe5)))
    (i32.const 0)))
