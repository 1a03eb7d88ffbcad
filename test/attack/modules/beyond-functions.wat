;; A function that it has not, but that the host adds: what fills memory in pieces.
;; features: no-check
;; refused: AbiMismatch there is no function 2
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (memory.fill (i32.const 0) (i32.const 0) (i32.const 1))
    (i32.const 0) (i32.const 0) (i32.const 1)
    (call 2)
    (i32.const 0)))
