;; Texts, memory and a global of a merge that runs out of fuel.
;; merge write ends: FuelExhausted the call took more than
;; look answers: allow
;; filter look answers: pass
(module
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (import "wardlet1" "warn" (func $warn (param i32 i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (import "wardlet1" "annotate" (func $annotate (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "secret")
  (global $a (mut i32) (i32.const 0))
  (func (export "wardlet_merge") (result i32)
    (call $reason (i32.const 8) (i32.const 6) (i32.const 8) (i32.const 6))
    (call $warn (i32.const 8) (i32.const 6))
    (call $explain (i32.const 8) (i32.const 6))
    (call $annotate (i32.const 8) (i32.const 6) (i32.const 8) (i32.const 6))
    (global.set $a (i32.const 1))
    (memory.fill (i32.const 2048) (i32.const 0xaa) (i32.const 0x9000))
    (loop $again (br $again))
    (i32.const 0))
  (func (export "wardlet_admit") (result i32)
    (i32.or (global.get $a)
      (i32.or (i32.load (i32.const 2048)) (i32.load (i32.const 0x9000)))))
  (func (export "wardlet_filter") (result i32)
    (i32.or (global.get $a)
      (i32.or (i32.load (i32.const 2048)) (i32.load (i32.const 0x9000))))))
