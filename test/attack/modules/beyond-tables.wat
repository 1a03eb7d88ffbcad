;; A table that it has not.
;; features: no-check
;; refused: AbiMismatch there is no table 0
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call_indirect (i32.const 0))
    (i32.const 0)))
