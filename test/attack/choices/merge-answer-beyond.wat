;; The candidate behind the last one wins.
;; merge ends: BadOutput wardlet_merge names candidate 3: there are 3, counted from 0
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_merge") (result i32)
    (i32.const 3)))
