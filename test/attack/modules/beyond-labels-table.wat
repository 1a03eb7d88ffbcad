;; The same, with a table of branches.
;; features: no-check
;; refused: AbiMismatch there is no label 1
(module
  (memory (export "memory") 1)
  (func $out
    (call $leaf)
    (br_table 0 1 (i32.const 1)))
  (func $leaf)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call $out)
    (i32.const 0)))
