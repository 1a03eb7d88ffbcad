;; Operands that are missing where no one comes, and a branch from there.
;; features: no-check
;; refused: AbiMismatch there is no label 5
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (block (result i32)
      (unreachable)
      (i32.add)
      (br 5))))
