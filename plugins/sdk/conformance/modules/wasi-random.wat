;; Shows 16 random bytes: of initialisation if settings.when is "init", else of the hook.
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "0123456789abcdef")
  (data (i32.const 16) "when")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_init") (result i32) (call $random_get (i32.const 0x100) (i32.const 16)))
  ;; $show gives bytes as the explanation, in hexadecimal digits.
  (func $show (param $from i32) (param $length i32)
    (local $i i32) (local $to i32)
    (local.set $to (i32.const 0x400))
    (block $done
      (loop $byte
        (br_if $done (i32.eq (local.get $i) (local.get $length)))
        (i32.store8 (local.get $to)
          (i32.load8_u (i32.shr_u (i32.load8_u (i32.add (local.get $from) (local.get $i))) (i32.const 4))))
        (i32.store8 offset=1 (local.get $to)
          (i32.load8_u (i32.and (i32.load8_u (i32.add (local.get $from) (local.get $i))) (i32.const 15))))
        (local.set $to (i32.add (local.get $to) (i32.const 2)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $byte)))
    (call $explain (i32.const 0x400) (i32.mul (local.get $length) (i32.const 2))))
  (func (export "wardlet_admit") (result i32)
    (drop (call $setting (i32.const 16) (i32.const 4) (i32.const 32) (i32.const 64)))
    (if (i32.ne (i32.load8_u (i32.const 37)) (i32.const 105))    ;; i
      (then (drop (call $random_get (i32.const 0x100) (i32.const 16)))))
    (call $show (i32.const 0x100) (i32.const 16))
    (i32.const 0)))
