;; Waiting for another thread, for ever.
;; features: threads
;; refused: AbiMismatch not supported
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1))))
