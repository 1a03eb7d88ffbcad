;; It makes an integer of a number that is too large.
;; ends: Trap integer overflow
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.trunc_f64_s (f64.const 1e30))))
