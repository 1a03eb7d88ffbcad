;; A memory with addresses of 64 bits.
;; features: memory64
;; refused: AbiMismatch 64-bit
(module
  (memory (export "memory") i64 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
