;; What takes 10 units: divisions of integers.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (drop (i32.div_s (i32.const 7) (i32.const 2)))
    (drop (i32.div_u (i32.const 7) (i32.const 2)))
    (drop (i32.rem_s (i32.const 7) (i32.const 2)))
    (drop (i32.rem_u (i32.const 7) (i32.const 2)))
    (drop (i64.div_s (i64.const 7) (i64.const 2)))
    (drop (i64.div_u (i64.const 7) (i64.const 2)))
    (drop (i64.rem_s (i64.const 7) (i64.const 2)))
    (drop (i64.rem_u (i64.const 7) (i64.const 2)))
    (i32.const 0)))
