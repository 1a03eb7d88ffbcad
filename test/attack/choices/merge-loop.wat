;; A loop without an end, in the hooks merge and filter.
;; merge ends: FuelExhausted the call took more than the
;; filter ends: FuelExhausted the call took more than the
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func $forever (loop $again (br $again)))
  (func (export "wardlet_merge") (result i32)
    (call $forever)
    (i32.const 0))
  (func (export "wardlet_filter") (result i32)
    (call $forever)
    (i32.const 0)))
