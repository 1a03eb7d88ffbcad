;; The same, before the fuel is used up.
;; write ends: FuelExhausted the call took more than
;; look answers: allow
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
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
  (data (i32.const 200) "secret")
  (data (i32.const 208) "look\n")
  (func (export "wardlet_admit") (result i32)
    (if (result i32) (i32.eq (call $asked) (i32.const 119)) ;; write
      (then
        (i32.store (i32.const 2048) (i32.const 200))
        (i32.store (i32.const 2052) (i32.const 6))
        (drop (call $fd_write (i32.const 1) (i32.const 2048) (i32.const 1) (i32.const 2056)))
        (drop (call $fd_write (i32.const 2) (i32.const 2048) (i32.const 1) (i32.const 2056)))
        (loop $again (br $again))
        (i32.const 0))
      (else
        (i32.store (i32.const 2048) (i32.const 208))
        (i32.store (i32.const 2052) (i32.const 5))
        (drop (call $fd_write (i32.const 1) (i32.const 2048) (i32.const 1) (i32.const 2056)))
        (drop (call $fd_write (i32.const 2) (i32.const 2048) (i32.const 1) (i32.const 2056)))
        (i32.const 0)))))
