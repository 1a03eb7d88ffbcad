;; A hook takes nothing and gives an i32.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (param i32) (result i32) (i32.const 0)))
