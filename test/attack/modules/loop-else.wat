;; A loop that goes on in the branch that is not taken first.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $odd i32)
    (loop $again
      (if (local.get $odd)
        (then (local.set $odd (i32.const 0)) (br $again))
        (else (local.set $odd (i32.const 1)) (br $again))))
    (i32.const 0)))
