;; Writes two lines to descriptor 2, and ends itself with the status 0.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "no disk left\nat main\n")    ;; 21 bytes
  (data (i32.const 32) "\00\00\00\00\15\00\00\00")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (drop (call $fd_write (i32.const 2) (i32.const 32) (i32.const 1) (i32.const 64)))
    (call $proc_exit (i32.const 0))
    (i32.const 0)))
