;; Memory that it grew: its size, and what it wrote there.
;; write answers: allow
;; look answers: allow
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
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
        (drop (memory.grow (i32.const 2)))
        (i64.store (i32.const 0x10000) (i64.const -1))
        (i64.store (i32.const 0x2fff8) (i64.const -1))
        (i32.const 0))
      (else
        (if (i32.ne (memory.size) (i32.const 1)) (then (return (i32.const 1))))
        (if (i32.ne (memory.grow (i32.const 3)) (i32.const 1)) (then (return (i32.const 1))))
        (i64.ne (i64.const 0) (i64.or (i64.load (i32.const 0x10000)) (i64.load (i32.const 0x2fff8))))))))
