;; Every byte of the memory but its input area.
;; write answers: allow
;; look answers: allow
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (memory (export "memory") 4)
  (data (i32.const 8) "object.spec.containers[*].image")
  (data (i32.const 1024) "\00\02\00\00") ;; the input area, of 512 bytes
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_init") (result i32)
    (drop (call $path (i32.const 8) (i32.const 31)))
    (i32.const 0))
  (func (export "wardlet_input") (result i32) (i32.const 1024))
  ;; the first letter of the image
  (func $asked (result i32) (i32.load8_u (i32.const 1050)))
  (func (export "wardlet_admit") (result i32) (local $at i32)
    (if (result i32) (i32.eq (call $asked) (i32.const 119)) ;; write
      (then
        (memory.fill (i32.const 2048) (i32.const 0xaa) (i32.const 0x3f800))
        (i32.const 0))
      (else
        (local.set $at (i32.const 2048))
        (loop $again
          (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then (return (i32.const 1))))
          (br_if $again (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 0x40000))))
        (i32.const 0)))))
