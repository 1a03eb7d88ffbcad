;; ref.func leaves something with the engine that could not be given back. It is refused although it is never reached.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (table 1 funcref)
  (elem func 0)
  (func (drop (ref.func 0)))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
