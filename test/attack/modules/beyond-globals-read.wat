;; A global that it has not: it would tell how much fuel is left.
;; features: no-check
;; refused: AbiMismatch there is no global
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.wrap_i64 (global.get 0))))
