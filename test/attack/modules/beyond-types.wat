;; A type that it has not, but that the host adds.
;; features: no-check
;; refused: AbiMismatch there is no type 2
(module
  (memory (export "memory") 1)
  (table 1 funcref)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call_indirect (type 2) (i32.const 0))
    (i32.const 0)))
