;; Constants that are computed.
;; features: extended-const
;; refused: AbiMismatch an initialiser that is not one constant
(module
  (memory (export "memory") 1)
  (global i32 (i32.add (i32.const 1) (i32.const 2)))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
