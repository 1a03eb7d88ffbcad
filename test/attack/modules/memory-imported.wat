;; A memory of somebody else's.
;; refused: AbiMismatch the module defines 0 memories
(module
  (import "env" "memory" (memory 1))
  (export "memory" (memory 0))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
