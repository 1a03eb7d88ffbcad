;; Two memories.
;; features: multi-memory
;; refused: AbiMismatch 2 elements: at most 1 are supported
(module
  (memory (export "memory") 1)
  (memory 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
