;; A loop that copies a passive segment into the memory.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 1)
  (data $bytes "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (memory.init $bytes (i32.const 100) (i32.const 0) (i32.const 64))
      (br $again))
    (unreachable)))
