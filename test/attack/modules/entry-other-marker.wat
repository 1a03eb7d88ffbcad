;; A marker of a version that there is not.
;; refused: AbiMismatch the module is made for wardlet_abi_2_0
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_2_0"))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
