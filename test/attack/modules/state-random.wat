;; The place in the row of random numbers: what was taken by another call is not missing.
;; look answers: deny Random
;; write answers: allow
;; look answers: deny Random
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
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
  (data (i32.const 200) "Random")
  ;; text for 24 bytes at 2048, at 4096
  (func $text (local $i i32)
    (loop $again
      (i32.store8 (i32.add (i32.const 4096) (local.get $i))
        (i32.add (i32.const 0x61)
          (i32.and (i32.const 15)
            (i32.shr_u (i32.load8_u (i32.add (i32.const 2048) (i32.shr_u (local.get $i) (i32.const 1))))
              (i32.shl (i32.and (local.get $i) (i32.const 1)) (i32.const 2))))))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 48)))))
  (func (export "wardlet_admit") (result i32)
    (if (i32.eq (call $asked) (i32.const 119)) ;; write
      (then
        (drop (call $random_get (i32.const 0x2000) (i32.const 333)))
        (return (i32.const 0))))
    (drop (call $random_get (i32.const 2048) (i32.const 24)))
    (call $text)
    (call $reason (i32.const 200) (i32.const 6) (i32.const 4096) (i32.const 48))
    (i32.const 1)))
