;; Of reasons, explanations, retry times, patches and annotations of one key the last call counts; warnings are all kept.
(module
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (import "wardlet1" "warn" (func $warn (param i32 i32)))
  (import "wardlet1" "annotate" (func $annotate (param i32 i32 i32 i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (import "wardlet1" "retry_after_ms" (func $retry_after_ms (param i64)))
  (import "wardlet1" "patch" (func $patch (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "FirstSecondkey")
  (data (i32.const 32) "[{\22op\22:\22remove\22,\22path\22:\22/a\22}]")    ;; 29 bytes
  (data (i32.const 64) "[{\22op\22:\22remove\22,\22path\22:\22/b\22}]")
  (func (export "wardlet_abi_1_0"))
  (func $say (param $at i32) (param $length i32) (param $ms i64) (param $patch i32)
    (call $reason (local.get $at) (local.get $length) (local.get $at) (local.get $length))
    (call $warn (local.get $at) (local.get $length))
    (call $annotate (i32.const 11) (i32.const 3) (local.get $at) (local.get $length))
    (call $explain (local.get $at) (local.get $length))
    (call $retry_after_ms (local.get $ms))
    (call $patch (local.get $patch) (i32.const 29)))
  (func $both
    (call $say (i32.const 0) (i32.const 5) (i64.const 1000) (i32.const 32))
    (call $say (i32.const 5) (i32.const 6) (i64.const 2000) (i32.const 64)))
  (func (export "wardlet_admit") (result i32) (call $both) (i32.const 0))     ;; the patch counts, the time does not
  (func (export "wardlet_merge") (result i32) (call $both) (i32.const -2))    ;; neither does: none of them runs
  (func (export "wardlet_filter") (result i32) (call $both) (i32.const 2)))   ;; the time counts
