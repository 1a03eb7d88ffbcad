;; It shows what the clocks say before and after much work: with that it could measure what others do.
;; answers: deny Clocks
(module
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "Clocks")
  ;; text for 24 bytes at 2048, at 4096
  (func $text (local $i i32)
    (loop $again
      (i32.store8 (i32.add (i32.const 4096) (local.get $i))
        (i32.add (i32.const 0x61)
          (i32.and (i32.const 15)
            (i32.shr_u (i32.load8_u (i32.add (i32.const 2048) (i32.shr_u (local.get $i) (i32.const 1))))
              (i32.shl (i32.and (local.get $i) (i32.const 1)) (i32.const 2))))))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 48)))))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $n i32)
    (drop (call $clock_time_get (i32.const 0) (i64.const 0) (i32.const 2048)))
    (loop $again
      (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 200000))))
    (drop (call $clock_time_get (i32.const 1) (i64.const 0) (i32.const 2056)))
    (drop (call $clock_time_get (i32.const 0) (i64.const 0) (i32.const 2064)))
    (if (i64.ne (i64.load (i32.const 2048)) (i64.load (i32.const 2064))) (then (unreachable)))
    (call $text)
    (call $reason (i32.const 8) (i32.const 6) (i32.const 4096) (i32.const 48))
    (i32.const 1)))
