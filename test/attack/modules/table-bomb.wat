;; A module of some 60 bytes whose table would take 400 MB.
;; refused: AbiMismatch tables of 50000000 entries together: at most 65536 are supported
(module
  (memory (export "memory") 1)
  (table 50000000 funcref)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
