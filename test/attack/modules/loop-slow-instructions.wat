;; A loop of what takes the processor long: roots and divisions of numbers that are hard to divide.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $x f64) (local $n i64)
    (local.set $x (f64.const 1e-310))
    (local.set $n (i64.const -1))
    (loop $again
      (local.set $x (f64.div (f64.sqrt (f64.sqrt (f64.sqrt (local.get $x)))) (f64.const 3e307)))
      (local.set $n (i64.rem_s (i64.div_s (local.get $n) (i64.const 3)) (i64.const 0x7fffffffffffff)))
      (br $again))
    (unreachable)))
