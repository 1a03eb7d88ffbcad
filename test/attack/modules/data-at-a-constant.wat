;; Data outside of the memory, at an address that a constant of the module gives.
;; features: no-check
;; refused: AbiMismatch the module does not compile
(module
  (memory (export "memory") 1)
  (global $at i32 (i32.const 0xffff))
  (data (global.get $at) "abc")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
