;; Calls of typed references.
;; features: function-references no-check
;; refused: AbiMismatch not supported
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call_ref (ref.null func))
    (i32.const 0)))
