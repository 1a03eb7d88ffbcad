;; A function that docs/abi.md does not have.
(module
  (import "wardlet1" "open_socket" (func))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
