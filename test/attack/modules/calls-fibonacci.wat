;; Recursion that is not deep, but wide: the 60th of Fibonacci's numbers.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 1)
  (func $fibonacci (param $n i64) (result i64)
    (if (result i64) (i64.lt_u (local.get $n) (i64.const 2))
      (then (local.get $n))
      (else (i64.add
        (call $fibonacci (i64.sub (local.get $n) (i64.const 1)))
        (call $fibonacci (i64.sub (local.get $n) (i64.const 2)))))))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.wrap_i64 (call $fibonacci (i64.const 60)))))
