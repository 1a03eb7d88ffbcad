;; table.grow: entries of a table.
;; refused: AbiMismatch table.grow: tables that change
(module
  (memory (export "memory") 1)
  (table 2 funcref)
  (elem $e func 0)
  (data $d "abc")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (drop (table.grow 0 (ref.null func) (i32.const 1)))
    (i32.const 0)))
