;; A loop that fills nothing, at the very end of the memory.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (memory.fill (i32.const 0x10000) (i32.const 0xaa) (i32.const 0))
      (br $again))
    (unreachable)))
