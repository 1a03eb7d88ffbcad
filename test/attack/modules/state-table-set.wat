;; table.set: entries of a table.
;; refused: AbiMismatch table.set: tables that change
(module
  (memory (export "memory") 1)
  (table 2 funcref)
  (elem $e func 0)
  (data $d "abc")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (table.set 0 (i32.const 0) (ref.null func))
    (i32.const 0)))
