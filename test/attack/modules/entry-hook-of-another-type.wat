;; A hook that wants a parameter, which nobody gives.
;; refused: AbiMismatch its type must be () -> (i32)
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (param i32) (result i32) (local.get 0)))
