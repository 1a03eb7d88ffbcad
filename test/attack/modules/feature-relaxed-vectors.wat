;; Vector instructions whose result depends on the machine.
;; features: relaxed-simd
;; refused: AbiMismatch not supported
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32x4.extract_lane 0 (i32x4.relaxed_trunc_f32x4_s (v128.const f32x4 nan 1e30 0 0)))))
