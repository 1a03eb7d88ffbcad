;; Its input area moves and grows after the host has asked where it is: the host does not follow.
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
  (func (export "wardlet_input") (result i32) (global.get $at))
  ;; the first letter of the image
  (func $asked (result i32) (i32.load8_u (i32.const 1050)))
  (global $at (export "at") (mut i32) (i32.const 1024))
  (func (export "wardlet_admit") (result i32)
    (i32.store (i32.const 1024) (i32.const -1)) ;; the capacity
    (i32.store (i32.const 1028) (i32.const -1))
    (global.set $at (i32.const 0xfffffff0))
    (i32.const 0)))
