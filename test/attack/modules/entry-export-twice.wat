;; The same name twice.
;; features: no-check
;; refused: AbiMismatch memory
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "memory"))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
