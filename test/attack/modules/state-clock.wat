;; The clock that goes on by what it waits.
;; write answers: allow
;; look answers: allow
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "object.spec.containers[*].image")
  (data (i32.const 1024) "\00\02\00\00") ;; the input area, of 512 bytes
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_init") (result i32)
    (drop (call $path (i32.const 8) (i32.const 31)))
    (i32.const 0))
  (func (export "wardlet_input") (result i32) (i32.const 1024))
  ;; the first letter of the image
  (func $asked (result i32) (i32.load8_u (i32.const 1050)))
  (func (export "wardlet_admit") (result i32)
    (if (result i32) (i32.eq (call $asked) (i32.const 119)) ;; write
      (then
        (i64.store (i32.const 2072) (i64.const 3600000000000)) ;; an hour, of the subscription at 2048
        (drop (call $poll_oneoff (i32.const 2048) (i32.const 3000) (i32.const 1) (i32.const 3100)))
        (i32.const 0))
      (else
        (drop (call $clock_time_get (i32.const 0) (i64.const 0) (i32.const 2048)))
        (drop (call $clock_time_get (i32.const 1) (i64.const 0) (i32.const 2056)))
        (i64.ne (i64.load (i32.const 2048)) (i64.load (i32.const 2056)))))))
