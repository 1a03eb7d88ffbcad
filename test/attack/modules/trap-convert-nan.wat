;; It makes an integer of what is no number.
;; ends: Trap invalid conversion to integer
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.trunc_f64_s (f64.const nan))))
