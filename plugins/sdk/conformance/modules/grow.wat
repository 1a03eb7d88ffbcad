;; Grows by settings.pages pages, and shows with how many pages memory.grow says it began (-1: refused), and how many there are.
;; Then it traps if settings.trap is there.
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "0123456789abcdef")
  (data (i32.const 16) "pagestrap")
  (func (export "wardlet_abi_1_0"))
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
    (drop (call $setting (i32.const 16) (i32.const 5) (i32.const 32) (i32.const 13)))
    (i32.store (i32.const 0x100) (memory.grow (i32.load (i32.const 37))))
    (i32.store (i32.const 0x104) (memory.size))
    (if (i32.ge_s (call $setting (i32.const 21) (i32.const 4) (i32.const 32) (i32.const 13)) (i32.const 0))
      (then unreachable))
    (call $show (i32.const 0x100) (i32.const 8))
    (i32.const 0)))
