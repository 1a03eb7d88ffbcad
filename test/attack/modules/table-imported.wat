;; A table of somebody else's.
;; refused: AbiMismatch imports the table
(module
  (import "env" "table" (table 1 funcref))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
