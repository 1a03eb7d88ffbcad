;; Pieces to write that lie outside of the memory, wrap, or are too many, and descriptors that there are not.
;; answers: allow
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "\00\00\00\00\ff\ff\ff\ff") ;; all of the address space
  (data (i32.const 16) "\ff\ff\ff\ff\02\00\00\00") ;; wraps
  (data (i32.const 24) "\00\01\00\00\01\00\00\00")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (if (i32.ne (call $fd_write (i32.const 1) (i32.const 65532) (i32.const 1) (i32.const 0)) (i32.const 21)) (then (return (i32.const 1))))
    (if (i32.ne (call $fd_write (i32.const 1) (i32.const -8) (i32.const 1) (i32.const 0)) (i32.const 21)) (then (return (i32.const 1))))
    (if (i32.ne (call $fd_write (i32.const 1) (i32.const 0) (i32.const 536870913) (i32.const 0)) (i32.const 28)) (then (return (i32.const 1))))
    (if (i32.ne (call $fd_write (i32.const 1) (i32.const 0) (i32.const -1) (i32.const 0)) (i32.const 28)) (then (return (i32.const 1))))
    (if (i32.ne (call $fd_write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 0)) (i32.const 21)) (then (return (i32.const 1))))
    (if (i32.ne (call $fd_write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 0)) (i32.const 21)) (then (return (i32.const 1))))
    (if (i32.ne (call $fd_write (i32.const 1) (i32.const 24) (i32.const 1) (i32.const -4)) (i32.const 21)) (then (return (i32.const 1))))
    (if (i32.ne (call $fd_write (i32.const 0) (i32.const 24) (i32.const 1) (i32.const 0)) (i32.const 8)) (then (return (i32.const 1))))
    (if (i32.ne (call $fd_write (i32.const -1) (i32.const 24) (i32.const 1) (i32.const 0)) (i32.const 8)) (then (return (i32.const 1))))
    (if (i32.ne (call $fd_write (i32.const 3) (i32.const 24) (i32.const 1) (i32.const 0)) (i32.const 8)) (then (return (i32.const 1))))
    (i32.const 0)))
