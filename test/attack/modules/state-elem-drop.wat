;; elem.drop: a segment that is gone.
;; refused: AbiMismatch elem.drop: a segment that is gone
(module
  (memory (export "memory") 1)
  (table 2 funcref)
  (elem $e func 0)
  (data $d "abc")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (elem.drop $e)
    (i32.const 0)))
