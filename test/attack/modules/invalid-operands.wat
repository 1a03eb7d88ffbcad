;; Fewer operands than an instruction takes.
;; features: no-check
;; refused: AbiMismatch the operand stack is empty
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.add)))
