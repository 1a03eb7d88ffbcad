;; table.fill changes what could not be put back. It is refused although it is never reached.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (table 1 funcref)
  (func (table.fill 0 (i32.const 0) (ref.null func) (i32.const 1)))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
