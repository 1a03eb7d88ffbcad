;; Markers of several versions, one of which is known.
;; answers: allow
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_0_9"))
  (func (export "wardlet_abi_2_0"))
  (func (export "wardlet_abi_1_65535"))
  (func (export "wardlet_abi_99999999999999999999_1"))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
