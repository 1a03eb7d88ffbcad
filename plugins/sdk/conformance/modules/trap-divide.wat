;; A division by zero.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (i32.div_u (i32.const 1) (i32.const 0))))
