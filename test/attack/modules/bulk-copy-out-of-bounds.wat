;; It copies more than its memory has, in pieces or not.
;; pages: 8
;; ends: Trap out of bounds memory access
(module
  (memory (export "memory") 4)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (memory.copy (i32.const 0) (i32.const 0x10000) (i32.const 0x30001))
    (i32.const 0)))
