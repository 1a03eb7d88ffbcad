;; Memory and a global, written by one hook and looked for by the others.
;; merge write answers: winner-2
;; look answers: allow
;; filter look answers: pass
;; merge look answers: winner-1
(module
  (import "wardlet1" "field" (func $field (param i32 i32) (result i32)))
  (import "wardlet1" "get" (func $get (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (global $a (mut i32) (i32.const 0))
  (data (i32.const 8) "candidates[0].object.spec.containers[*].image")
  (func (export "wardlet_init") (result i32)
    (i32.ne (call $field (i32.const 8) (i32.const 45)) (i32.const 0)))
  (func $found (result i32)
    (i32.or (global.get $a)
      (i32.or (i32.load (i32.const 2048)) (i32.load (i32.const 0x9000)))))
  (func (export "wardlet_merge") (result i32)
    (drop (call $get (i32.const 0) (i32.const 64) (i32.const 64)))
    (if (i32.eq (i32.load8_u (i32.const 78)) (i32.const 108)) ;; look
      (then (return (select (i32.const -9) (i32.const 1) (call $found)))))
    (global.set $a (i32.const 1))
    (memory.fill (i32.const 2048) (i32.const 0xaa) (i32.const 0x9000))
    (i32.const 2))
  (func (export "wardlet_admit") (result i32)
    (call $found))
  (func (export "wardlet_filter") (result i32)
    (call $found)))
