;; It fills 8 MiB where it is asked about another image than "calm".
;; pages: 128
;; fuel: 20000000
;; calm answers: allow
;; answers: allow
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (memory (export "memory") 128)
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
    (if (i32.ne (call $asked) (i32.const 99)) ;; not calm
      (then
        (memory.fill (i32.const 65536) (i32.const 1) (i32.const 0x7f0000))))
    (i32.const 0)))
