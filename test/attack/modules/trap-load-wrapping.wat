;; It reads where address and offset together wrap to the begin of its memory.
;; ends: Trap out of bounds memory access
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.load offset=0xffffffff (i32.const 1))))
