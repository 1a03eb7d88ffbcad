;; It hands texts and a patch over, and then names a candidate that there is not.
;; merge ends: BadOutput wardlet_merge names candidate 77: there are 3
(module
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (import "wardlet1" "warn" (func $warn (param i32 i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (import "wardlet1" "annotate" (func $annotate (param i32 i32 i32 i32)))
  (import "wardlet1" "patch" (func $patch (param i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "secret")
  (data (i32.const 16) "[{\"op\":\"remove\",\"path\":\"/spec\"}]")
  (func (export "wardlet_merge") (result i32)
    (call $reason (i32.const 8) (i32.const 6) (i32.const 8) (i32.const 6))
    (call $warn (i32.const 8) (i32.const 6))
    (call $explain (i32.const 8) (i32.const 6))
    (call $annotate (i32.const 8) (i32.const 6) (i32.const 8) (i32.const 6))
    (call $patch (i32.const 16) (i32.const 32))
    (i32.const 77)))
