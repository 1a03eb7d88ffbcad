;; The largest number as an answer.
;; ends: BadOutput wardlet_admit gives 2147483647
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0x7fffffff)))
