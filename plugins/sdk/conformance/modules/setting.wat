;; Shows what setting gives for the path settings.show, or for the empty path if there is no such setting: its result, an i32,
;; and the value. settings.room is how much room that has, 1 KiB if it is not there.
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "0123456789abcdef")
  (data (i32.const 16) "showroom")
  (func (export "wardlet_abi_1_0"))
  ;; $show gives bytes as the explanation, in hexadecimal digits.
  (func $show (param $from i32) (param $length i32)
    (local $i i32) (local $to i32)
    (local.set $to (i32.const 0x2000))
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
    (call $explain (i32.const 0x2000) (i32.mul (local.get $length) (i32.const 2))))
  (func (export "wardlet_admit") (result i32)
    (local $room i32) (local $length i32)
    (local.set $room (i32.const 1024))
    (if (i32.ge_s (call $setting (i32.const 20) (i32.const 4) (i32.const 0x100) (i32.const 13)) (i32.const 0))
      (then (local.set $room (i32.load (i32.const 0x105)))))
    (drop (call $setting (i32.const 16) (i32.const 4) (i32.const 0x200) (i32.const 256)))
    (local.set $length
      (call $setting (i32.const 0x205) (i32.load (i32.const 0x201)) (i32.const 0x1004) (local.get $room)))
    (i32.store (i32.const 0x1000) (local.get $length))
    (call $show (i32.const 0x1000)
      (select (i32.add (local.get $length) (i32.const 4)) (i32.const 4) (i32.le_u (local.get $length) (local.get $room))))
    (i32.const 0)))
