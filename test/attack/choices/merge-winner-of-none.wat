;; The first one wins of no candidates at all.
;; candidates: 0
;; merge ends: BadOutput names candidate 0: there are 0
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_merge") (result i32)
    (i32.const 0)))
