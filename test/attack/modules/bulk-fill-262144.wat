;; A loop that fills the whole memory.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 4)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (memory.fill (i32.const 0) (i32.const 0xaa) (i32.const 262144))
      (br $again))
    (unreachable)))
