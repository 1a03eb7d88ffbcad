;; wardlet_input without paths: the record says that there are none.
(module
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "0123456789abcdef")
  (data (i32.const 0x100) "\40\00\00\00")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_input") (result i32) (i32.const 0x100))
  ;; $show gives bytes as the explanation, in hexadecimal digits.
  (func $show (param $from i32) (param $length i32)
    (local $i i32) (local $to i32)
    (local.set $to (i32.const 0x200))
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
    (call $explain (i32.const 0x200) (i32.mul (local.get $length) (i32.const 2))))
  (func (export "wardlet_admit") (result i32)
    (call $show (i32.const 0x104) (i32.add (i32.load (i32.const 0x104)) (i32.const 4)))   ;; with its length
    (i32.const 0)))
