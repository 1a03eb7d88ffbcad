;; Places in the memory: where there were zeros, in data, in the first and the last bytes.
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
  (data (i32.const 3000) "a")
  (func (export "wardlet_admit") (result i32)
    (if (result i32) (i32.eq (call $asked) (i32.const 119)) ;; write
      (then
        (i64.store (i32.const 0) (i64.const -1))
        (i64.store (i32.const 2048) (i64.const -1))
        (i32.store8 (i32.const 3000) (i32.const 0x62))
        (i64.store (i32.const 0x8000) (i64.const -1))
        (i64.store (i32.const 0xfff8) (i64.const -1))
        (i32.const 0))
      (else
        (i32.or
          (i32.ne (i32.load8_u (i32.const 3000)) (i32.const 0x61))
          (i64.ne (i64.const 0) (i64.or
            (i64.or (i64.load (i32.const 0)) (i64.load (i32.const 2048)))
            (i64.or (i64.load (i32.const 0x8000)) (i64.load (i32.const 0xfff8))))))))))
