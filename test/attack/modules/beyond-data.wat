;; A segment of data that it has not.
;; features: no-check
;; refused: AbiMismatch there is no data
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (memory.init 0 (i32.const 0) (i32.const 0) (i32.const 1))
    (i32.const 0)))
