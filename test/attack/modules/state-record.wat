;; The record of the longest question: of the shorter one after it nothing of it may be seen.
;; wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww answers: allow
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
    (if (i32.eq (call $asked) (i32.const 119)) (then (return (i32.const 0))))
    (i64.ne (i64.const 0) (i64.or (i64.load (i32.const 1054)) (i64.or (i64.load (i32.const 1062)) (i64.load (i32.const 1100)))))))
