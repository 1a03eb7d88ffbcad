;; All results that one can give, before the fuel is used up.
;; write ends: FuelExhausted the call took more than
;; look answers: hold
;; look answers: hold
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (import "wardlet1" "reason" (func $reason (param i32 i32 i32 i32)))
  (import "wardlet1" "warn" (func $warn (param i32 i32)))
  (import "wardlet1" "annotate" (func $annotate (param i32 i32 i32 i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (import "wardlet1" "retry_after_ms" (func $retry_after_ms (param i64)))
  (import "wardlet1" "patch" (func $patch (param i32 i32)))
  (import "wardlet1" "log" (func $log (param i32 i32 i32)))
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
  (data (i32.const 208) "[{\22op\22:\22remove\22,\22path\22:\22/secret/a\22}]")
  (func (export "wardlet_admit") (result i32)
    (if (i32.eq (call $asked) (i32.const 119)) ;; write
      (then
        (call $reason (i32.const 200) (i32.const 6) (i32.const 200) (i32.const 6))
        (call $warn (i32.const 200) (i32.const 6))
        (call $annotate (i32.const 200) (i32.const 6) (i32.const 200) (i32.const 6))
        (call $explain (i32.const 200) (i32.const 6))
        (call $retry_after_ms (i64.const 77777))
        (call $patch (i32.const 208) (i32.const 36))
        (call $log (i32.const 2) (i32.const 200) (i32.const 6))
        (loop $again (br $again))
        (return (i32.const 0))))
    (i32.const 2)))
