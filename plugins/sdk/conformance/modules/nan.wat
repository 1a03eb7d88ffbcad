;; The bits of NaN that WebAssembly leaves open, 4 or 8 bytes each: 0/0, the square root of -1, infinity - infinity, the lesser
;; of a NaN with other bits and 1, a NaN with other bits and a sign made shorter and longer, and a lane of 0/0. neg and copysign
;; leave nothing open: they keep a NaN's bits but the sign.
(module
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "0123456789abcdef")
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
    (local $zero f32) (local $zero64 f64)
    (f32.store (i32.const 0x100) (f32.div (local.get $zero) (local.get $zero)))
    (f32.store (i32.const 0x104) (f32.sqrt (f32.sub (local.get $zero) (f32.const 1))))
    (f32.store (i32.const 0x108) (f32.sub (f32.add (local.get $zero) (f32.const inf)) (f32.const inf)))
    (f32.store (i32.const 0x10c) (f32.min (f32.reinterpret_i32 (i32.const 0xffa00001)) (f32.const 1)))
    (f64.store (i32.const 0x110) (f64.div (local.get $zero64) (local.get $zero64)))
    (f32.store (i32.const 0x118) (f32.demote_f64 (f64.reinterpret_i64 (i64.const 0xfff4000000000001))))
    (f64.store (i32.const 0x120) (f64.promote_f32 (f32.reinterpret_i32 (i32.const 0xffa00001))))
    (f32.store (i32.const 0x11c) (f32x4.extract_lane 2 (f32x4.div (f32x4.splat (local.get $zero)) (f32x4.splat (local.get $zero)))))
    (f32.store (i32.const 0x128) (f32.neg (f32.reinterpret_i32 (i32.const 0xffa00001))))
    (f32.store (i32.const 0x12c) (f32.copysign (f32.reinterpret_i32 (i32.const 0x7fa00001)) (f32.const -1)))
    (call $show (i32.const 0x100) (i32.const 0x30))
    (i32.const 0)))
