;; It does not come back when it is set up.
;; refused: FuelExhausted wardlet_init: the call took more than
(module
  (memory (export "memory") 1)
  (func (export "wardlet_init") (result i32)
    (loop $again (br $again))
    (unreachable))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
