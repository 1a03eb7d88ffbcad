;; A loop that moves 192 KiB by one byte, up and down.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 4)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (memory.copy (i32.const 1) (i32.const 0) (i32.const 0x30000))
      (memory.copy (i32.const 0) (i32.const 1) (i32.const 0x30000))
      (br $again))
    (unreachable)))
