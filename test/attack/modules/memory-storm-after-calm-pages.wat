;; It writes to each page of 8 MiB for the first time where it is asked about another image than "calm".
;; pages: 128
;; fuel: 2000000
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
        (local.set $at (i32.const 65536))
        (loop $again
          (i32.store8 (local.get $at) (i32.const 1))
          (br_if $again (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 4096))) (i32.const 0x800000))))))
    (i32.const 0)))
