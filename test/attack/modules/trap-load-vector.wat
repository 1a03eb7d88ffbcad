;; It reads 16 bytes of which the last lies outside.
;; ends: Trap out of bounds memory access
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32x4.extract_lane 0 (v128.load (i32.const 0xfff1)))))
