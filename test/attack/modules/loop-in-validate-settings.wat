;; It does not come back when it looks at its settings.
;; refused: FuelExhausted wardlet_validate_settings: the call took more than
(module
  (memory (export "memory") 1)
  (func (export "wardlet_validate_settings") (result i32)
    (loop $again (br $again))
    (unreachable))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
