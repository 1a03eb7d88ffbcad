;; A plugin has its own tables.
(module
  (import "wardlet1" "table" (table 1 funcref))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
