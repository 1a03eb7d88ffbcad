;; Exceptions.
;; features: exceptions
;; refused: AbiMismatch section
(module
  (memory (export "memory") 1)
  (tag $e)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (try (do (throw $e)) (catch $e))
    (i32.const 0)))
