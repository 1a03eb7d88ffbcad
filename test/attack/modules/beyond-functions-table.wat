;; A function that it has not, in its table.
;; features: no-check
;; refused: AbiMismatch there is no function 2
(module
  (memory (export "memory") 1)
  (table 1 funcref)
  (elem (i32.const 0) func 2)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call_indirect (i32.const 0))
    (i32.const 0)))
