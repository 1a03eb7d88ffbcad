;; Mutable globals of all kinds of numbers.
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
  (global $a (mut i32) (i32.const 5))
  (global $b (mut i64) (i64.const 5))
  (global $c (mut f32) (f32.const 5))
  (global $d (mut f64) (f64.const -0x0p0))
  (func (export "wardlet_admit") (result i32)
    (if (result i32) (i32.eq (call $asked) (i32.const 119)) ;; write
      (then
        (global.set $a (i32.const -1))
        (global.set $b (i64.const -1))
        (global.set $c (f32.const nan:0x400001))
        (global.set $d (f64.const nan:0x8000000000001))
        (i32.const 0))
      (else
        (i32.or
          (i32.or (i32.ne (global.get $a) (i32.const 5)) (i64.ne (global.get $b) (i64.const 5)))
          (i32.or (i32.ne (i32.reinterpret_f32 (global.get $c)) (i32.const 0x40a00000))
            (i64.ne (i64.reinterpret_f64 (global.get $d)) (i64.const 0x8000000000000000))))))))
