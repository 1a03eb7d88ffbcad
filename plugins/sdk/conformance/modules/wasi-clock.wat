;; Shows, 8 bytes each: the wall clock during initialisation, in the hook, and the monotonic clock before and after a wait of
;; 5 s; then three results: of clock 1 with EFAULT, of clock 2 with ENOSYS, of poll_oneoff, and how many events that gave.
(module
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "0123456789abcdef")
  (func (export "wardlet_abi_1_0"))
  (func (export "_initialize") (drop (call $clock_time_get (i32.const 0) (i64.const 1) (i32.const 0x100))))
  ;; $show gives bytes as the explanation, in hexadecimal digits.
  (func $show (param $from i32) (param $length i32)
    (local $i i32) (local $to i32)
    (local.set $to (i32.const 0x400))
    (block $done
      (loop $byte
        (br_if $done (i32.eq (local.get $i) (local.get $length)))
        (i32.store8 (local.get $to)
          (i32.load8_u (i32.shr_u (i32.load8_u (i32.add (local.get $from) (local.get $i))) (i32.const 4))))
        (i32.store8 offset=1 (local.get $to)
          (i32.load8_u (i32.and (i32.load8_u (i32.add (local.get $from) (local.get $i))) (i32.const 15))))
        (local.set $to (i32.add (local.get $to) (i32.const 2)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $byte)))
    (call $explain (i32.const 0x400) (i32.mul (local.get $length) (i32.const 2))))
  (func (export "wardlet_admit") (result i32)
    (drop (call $clock_time_get (i32.const 0) (i64.const 1) (i32.const 0x108)))
    (drop (call $clock_time_get (i32.const 1) (i64.const 1) (i32.const 0x110)))
    ;; A subscription of 48 bytes: kind 0 (a clock) at 8, clock 1 at 16, 5 s at 24.
    (i32.store (i32.const 0x210) (i32.const 1))
    (i64.store (i32.const 0x218) (i64.const 5000000000))
    (i32.store8 (i32.const 0x122) (call $poll_oneoff (i32.const 0x200) (i32.const 0x300) (i32.const 1) (i32.const 0x123)))
    (drop (call $clock_time_get (i32.const 1) (i64.const 1) (i32.const 0x118)))
    (i32.store8 (i32.const 0x120) (call $clock_time_get (i32.const 1) (i64.const 1) (i32.const 0xfff9)))
    (i32.store8 (i32.const 0x121) (call $clock_time_get (i32.const 2) (i64.const 1) (i32.const 0x200)))
    (call $show (i32.const 0x100) (i32.const 0x27))
    (i32.const 0)))
