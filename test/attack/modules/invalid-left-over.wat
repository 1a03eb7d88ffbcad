;; More operands than a function gives.
;; features: no-check
;; refused: AbiMismatch the module does not compile
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)
    (i32.const 0)))
