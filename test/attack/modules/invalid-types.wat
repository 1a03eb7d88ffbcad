;; A number of 64 bits that is taken for one of 32.
;; features: no-check
;; refused: AbiMismatch the module does not compile
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i64.const -1)))
