;; It divides the least number by -1.
;; ends: Trap integer overflow
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.div_s (i32.const 0x80000000) (i32.const -1))))
