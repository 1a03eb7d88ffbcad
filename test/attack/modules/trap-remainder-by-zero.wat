;; It divides by zero, and wants the remainder.
;; ends: Trap integer divide by zero
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.wrap_i64 (i64.rem_s (i64.const 1) (i64.const 0)))))
