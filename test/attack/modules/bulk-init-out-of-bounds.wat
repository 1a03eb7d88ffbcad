;; It copies more of a segment than there is.
;; ends: Trap out of bounds memory access
(module
  (memory (export "memory") 1)
  (data $bytes "0123456789")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (memory.init $bytes (i32.const 0) (i32.const 1) (i32.const -2))
    (i32.const 0)))
