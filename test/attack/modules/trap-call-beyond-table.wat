;; It calls what lies behind its table.
;; ends: Trap invalid table access
(module
  (memory (export "memory") 1)
  (table funcref (elem 0))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call_indirect (i32.const -1))
    (i32.const 0)))
