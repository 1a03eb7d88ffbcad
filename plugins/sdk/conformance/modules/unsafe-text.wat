;; Texts that are not safe to show: invalid UTF-8, control characters, and U+202E, which turns the direction of writing. The
;; same bytes as message, warning, explanation, key and value of an annotation, and log line.
(module
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (import "wardlet1" "warn" (func $warn (param i32 i32)))
  (import "wardlet1" "annotate" (func $annotate (param i32 i32 i32 i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (import "wardlet1" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "a\ffb\nc\td\1be\e2\80\aef\c3\a4")    ;; 15 bytes
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call $reason (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 15))
    (call $warn (i32.const 0) (i32.const 15))
    (call $annotate (i32.const 0) (i32.const 15) (i32.const 0) (i32.const 15))
    (call $explain (i32.const 0) (i32.const 15))
    (call $log (i32.const 1) (i32.const 0) (i32.const 15))
    (i32.const 1)))
