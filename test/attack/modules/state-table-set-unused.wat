;; table.set in a function that nobody calls, but might.
;; refused: AbiMismatch table.set: tables that change
(module
  (memory (export "memory") 1)
  (table 2 funcref)
  (func (export "wardlet_abi_1_0"))
  (func (param i32) (table.set 0 (local.get 0) (ref.null func)))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
