;; A mutable global of type funcref could not be put back after a call.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (global (mut funcref) (ref.null func))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
