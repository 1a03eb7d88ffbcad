;; wardlet_init refuses with -1, and gives no reason.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_init") (result i32) (i32.const -1))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
