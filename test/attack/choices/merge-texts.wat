;; Texts that are not UTF-8, and some that turn the direction of writing.
;; merge answers: reject \u202e
(module
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (import "wardlet1" "warn" (func $warn (param i32 i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (import "wardlet1" "annotate" (func $annotate (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "a\ff\ed\a0\80\1b[2J\e2\80\ae\00b")
  (func (export "wardlet_merge") (result i32)
    (call $reason (i32.const 8) (i32.const 15) (i32.const 8) (i32.const 15))
    (call $warn (i32.const 8) (i32.const 15))
    (call $explain (i32.const 8) (i32.const 15))
    (call $annotate (i32.const 8) (i32.const 15) (i32.const 8) (i32.const 15))
    (i32.const -2)))
