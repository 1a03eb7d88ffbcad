;; A loop that grows the memory by nothing.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (drop (memory.grow (i32.const 0)))
      (br $again))
    (unreachable)))
