;; Memory and a global, written before the end of its fuel.
;; write ends: FuelExhausted the call took more than
;; look answers: allow
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (import "wardlet1" "warn" (func $warn (param i32 i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "object.spec.containers[*].image")
  (data (i32.const 1024) "\00\02\00\00") ;; the input area, of 512 bytes
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_init") (result i32)
    (drop (call $path (i32.const 8) (i32.const 31)))
    (i32.const 0))
  (func (export "wardlet_input") (result i32) (i32.const 1024))
  ;; the first letter of the image
  (func $asked (result i32) (i32.load8_u (i32.const 1050)))
  (global $a (mut i32) (i32.const 0))
  (func $down (call $down))
  (func (export "wardlet_admit") (result i32)
    (if (result i32) (i32.eq (call $asked) (i32.const 119)) ;; write
      (then
        (global.set $a (i32.const 1))
        (memory.fill (i32.const 2048) (i32.const 0xaa) (i32.const 0x8000))
        (loop $again (br $again))
        (i32.const 0))
      (else
        (i32.or (global.get $a) (i32.or (i32.load (i32.const 2048)) (i32.load (i32.const 0xa000))))))))
