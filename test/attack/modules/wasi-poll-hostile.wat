;; Subscriptions that lie outside of the memory, are so many that their length wraps, or of kinds that there are not.
;; answers: allow
(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (if (i32.ne (call $poll_oneoff (i32.const 0) (i32.const 4096) (i32.const 89478486) (i32.const 0)) (i32.const 28)) (then (return (i32.const 1))))
    (if (i32.ne (call $poll_oneoff (i32.const 0) (i32.const 4096) (i32.const -1) (i32.const 0)) (i32.const 28)) (then (return (i32.const 1))))
    (if (i32.ne (call $poll_oneoff (i32.const 0) (i32.const 4096) (i32.const 0) (i32.const 0)) (i32.const 28)) (then (return (i32.const 1))))
    (if (i32.ne (call $poll_oneoff (i32.const 65520) (i32.const 4096) (i32.const 1) (i32.const 0)) (i32.const 21)) (then (return (i32.const 1))))
    (if (i32.ne (call $poll_oneoff (i32.const 0) (i32.const 65520) (i32.const 1) (i32.const 0)) (i32.const 21)) (then (return (i32.const 1))))
    (if (i32.ne (call $poll_oneoff (i32.const -48) (i32.const 4096) (i32.const 1) (i32.const 0)) (i32.const 21)) (then (return (i32.const 1))))
    (if (i32.ne (call $poll_oneoff (i32.const 0) (i32.const 4096) (i32.const 1) (i32.const -2)) (i32.const 21)) (then (return (i32.const 1))))
    (if (i32.ne (call $poll_oneoff (i32.const 0) (i32.const 0) (i32.const 1024) (i32.const 61440)) (i32.const 0)) (then (return (i32.const 1))))
    (if (i32.ne (call $poll_oneoff (i32.const 16) (i32.const 0) (i32.const 1024) (i32.const 0)) (i32.const 0)) (then (return (i32.const 1))))
    (i32.const 0)))
