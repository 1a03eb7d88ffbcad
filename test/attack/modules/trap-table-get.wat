;; It reads behind its table.
;; ends: Trap invalid table access
(module
  (memory (export "memory") 1)
  (table 3 funcref)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (ref.is_null (table.get 0 (i32.const 3)))))
