;; It calls an empty entry of its table.
;; ends: Trap invalid table access
(module
  (memory (export "memory") 1)
  (table 3 funcref)
  (elem (i32.const 0) func 0)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call_indirect (i32.const 1))
    (i32.const 0)))
