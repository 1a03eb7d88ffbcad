;; Elements must lie in their table.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (table 1 funcref)
  (elem (i32.const 1) func 0)
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
