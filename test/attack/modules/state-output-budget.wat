;; What it put out: another call may put out as much.
;; output: 40000
;; write answers: allow
;; hook answers: abstain
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
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
  (func (export "wardlet_admit") (result i32)
    (if (result i32) (i32.eq (call $asked) (i32.const 119)) ;; write
      (then
        (call $explain (i32.const 0x4000) (i32.const 0x8000))
        (i32.const 0))
      (else
        (call $explain (i32.const 0x4000) (i32.const 0x8000))
        (i32.const 3)))))
