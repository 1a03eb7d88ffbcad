;; A code and a message that are not UTF-8, with half characters and surrogates.
;; answers: deny �
(module
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (import "wardlet1" "warn" (func $warn (param i32 i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (import "wardlet1" "annotate" (func $annotate (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "Ab\ff\fec")
  (data (i32.const 16) "a\ed\a0\80\c0\80b\f4\90\80\80\e2")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call $reason (i32.const 8) (i32.const 5) (i32.const 16) (i32.const 12))
    (call $warn (i32.const 16) (i32.const 12))
    (call $explain (i32.const 16) (i32.const 12))
    (call $annotate (i32.const 16) (i32.const 12) (i32.const 16) (i32.const 12))
    (i32.const 1)))
