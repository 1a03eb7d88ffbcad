;; A branch to a block that it has not, but that the host puts around each function: it would leave without giving back its stack.
;; features: no-check
;; refused: AbiMismatch there is no label 1
(module
  (memory (export "memory") 1)
  (func $out
    (call $leaf)
    (br 1))
  (func $leaf)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call $out)
    (i32.const 0)))
