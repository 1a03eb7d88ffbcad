;; features: memory64
;; No 64-bit memory.
(module
  (memory (export "memory") i64 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
