;; Data must lie in the memory as it begins.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 65533) "four")
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
