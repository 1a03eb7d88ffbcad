;; data.drop changes what could not be put back. It is refused although it is never reached.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data "gone")
  (func (data.drop 0))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
