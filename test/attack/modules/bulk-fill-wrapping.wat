;; It fills from the last byte on, so many bytes that the sum wraps to 0.
;; ends: Trap out of bounds memory access
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (memory.fill (i32.const 0xffff) (i32.const 0xaa) (i32.const 0xffff0001))
    (i32.const 0)))
