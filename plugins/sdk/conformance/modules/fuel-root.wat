;; What takes 10 units: divisions and square roots of floats, also in vectors.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (drop (f32.div (f32.const 7) (f32.const 7)))
    (drop (f32.sqrt (f32.const 7)))
    (drop (f64.div (f64.const 7) (f64.const 7)))
    (drop (f64.sqrt (f64.const 7)))
    (drop (f32x4.div (v128.const i32x4 1 2 3 4) (v128.const i32x4 1 2 3 4)))
    (drop (f32x4.sqrt (v128.const i32x4 1 2 3 4)))
    (drop (f64x2.div (v128.const i32x4 1 2 3 4) (v128.const i32x4 1 2 3 4)))
    (drop (f64x2.sqrt (v128.const i32x4 1 2 3 4)))
    (i32.const 0)))
