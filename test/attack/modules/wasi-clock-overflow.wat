;; It waits a year, a thousand times: the clock stands after one, and does not go back.
;; answers: allow
(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $n i32) (local $then i64)
    (i64.store (i32.const 24) (i64.const -1)) ;; the timeout of a subscription at 0
    (loop $again
      (drop (call $poll_oneoff (i32.const 0) (i32.const 100) (i32.const 1) (i32.const 200)))
      (drop (call $clock_time_get (i32.const 1) (i64.const 0) (i32.const 300)))
      (if (i64.lt_s (i64.load (i32.const 300)) (local.get $then)) (then (unreachable)))
      (local.set $then (i64.load (i32.const 300)))
      (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 1000))))
    (drop (call $clock_time_get (i32.const 0) (i64.const 0) (i32.const 300)))
    (i64.gt_u (i64.sub (local.get $then) (i64.load (i32.const 300))) (i64.const 31536000000000000))))
