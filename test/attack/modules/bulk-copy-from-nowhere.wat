;; It copies 4 GiB from the end of the address space.
;; ends: Trap out of bounds memory access
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (memory.copy (i32.const 0) (i32.const -1) (i32.const -1))
    (i32.const 0)))
