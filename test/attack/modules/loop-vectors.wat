;; A loop of vector instructions.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $v v128)
    (loop $again
      (local.set $v (f64x2.sqrt (f64x2.div (local.get $v) (v128.const f64x2 3 1e-310))))
      (local.set $v (i8x16.swizzle (i8x16.popcnt (local.get $v)) (i64x2.mul (local.get $v) (local.get $v))))
      (br $again))
    (unreachable)))
