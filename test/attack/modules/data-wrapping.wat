;; Data at the end of the address space, so that the sum wraps.
;; refused: AbiMismatch data section, data 0
(module
  (memory (export "memory") 1)
  (data (i32.const 0xffffffff) "abc")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
