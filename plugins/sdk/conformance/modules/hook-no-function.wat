;; A hook is a function.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (global (export "wardlet_admit") i32 (i32.const 0)))
