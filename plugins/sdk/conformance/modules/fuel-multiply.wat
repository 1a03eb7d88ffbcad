;; What takes 2 units: multiplications of integers, and counts of their bits.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (drop (i32.mul (i32.const 7) (i32.const 2)))
    (drop (i32.clz (i32.const 7)))
    (drop (i32.ctz (i32.const 7)))
    (drop (i32.popcnt (i32.const 7)))
    (drop (i64.mul (i64.const 7) (i64.const 2)))
    (drop (i64.clz (i64.const 7)))
    (drop (i64.ctz (i64.const 7)))
    (drop (i64.popcnt (i64.const 7)))
    (i32.const 0)))
