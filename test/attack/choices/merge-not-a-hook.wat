;; It says that it decides, and has no such hook.
;; merge refused: AbiMismatch the module exports no function wardlet_merge
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
