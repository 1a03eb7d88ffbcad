;; A plugin has its own memory.
(module
  (import "wardlet1" "memory" (memory 1))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
