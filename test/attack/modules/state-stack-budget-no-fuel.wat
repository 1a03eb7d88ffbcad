;; What was left of its stack when its fuel was used up, deep in a recursion: another call has all of it.
;; write ends: FuelExhausted the call took more than
;; look answers: allow
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (import "wardlet1" "warn" (func $warn (param i32 i32)))
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
  (func $down (param i32)
    (if (local.get 0)
      (then (call $down (i32.sub (local.get 0) (i32.const 1))))
      (else (if (i32.eq (call $asked) (i32.const 119)) (then (loop $again (br $again)))))))
  (func (export "wardlet_admit") (result i32)
    (if (result i32) (i32.eq (call $asked) (i32.const 119)) ;; write
      (then
        (call $down (i32.const 900))
        (i32.const 0))
      (else
        (call $down (i32.const 900))
        (i32.const 0)))))
