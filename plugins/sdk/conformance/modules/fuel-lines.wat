;; What is written to a descriptor is handed over, and each line that ends takes 500 units.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "a\nb\nc")
  (data (i32.const 16) "\00\00\00\00\05\00\00\00")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (drop (call $fd_write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 32)))
    (i32.const 0)))
