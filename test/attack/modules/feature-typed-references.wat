;; Calls of typed references.
;; features: function-references
;; refused: AbiMismatch not supported
(module
  (memory (export "memory") 1)
  (elem declare func 0)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call_ref (ref.func 0))
    (i32.const 0)))
