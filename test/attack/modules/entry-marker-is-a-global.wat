;; A marker that is no function.
;; refused: AbiMismatch exports no function wardlet_abi_1_0
(module
  (memory (export "memory") 1)
  (global (export "wardlet_abi_1_0") i32 (i32.const 0))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
