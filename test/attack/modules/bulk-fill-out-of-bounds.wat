;; It fills 4 GiB less a byte from the begin of its 64 KiB.
;; ends: Trap out of bounds memory access
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (memory.fill (i32.const 0) (i32.const 0xaa) (i32.const -1))
    (i32.const 0)))
