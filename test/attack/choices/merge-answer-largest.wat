;; The candidate with the largest number there is wins.
;; merge ends: BadOutput wardlet_merge names candidate 2147483647: there are 3
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_merge") (result i32)
    (i32.const 0x7fffffff)))
