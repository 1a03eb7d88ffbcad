;; Text that would paint a terminal, turn the direction of writing, or forge a line.
;; answers: deny \u001b
(module
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (import "wardlet1" "warn" (func $warn (param i32 i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (import "wardlet1" "annotate" (func $annotate (param i32 i32 i32 i32)))
  (import "wardlet1" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "\1b[2Jab\e2\80\aecd\00\07\r\nlevel=ERROR\c2\85\e2\81\a9\7f")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call $reason (i32.const 0) (i32.const 0) (i32.const 8) (i32.const 35))
    (call $warn (i32.const 8) (i32.const 35))
    (call $explain (i32.const 8) (i32.const 35))
    (call $annotate (i32.const 8) (i32.const 35) (i32.const 8) (i32.const 35))
    (call $log (i32.const 3) (i32.const 8) (i32.const 35))
    (i32.const 1)))
