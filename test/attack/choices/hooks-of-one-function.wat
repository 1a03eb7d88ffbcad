;; One function for all hooks: its answer means something else in each.
;; answers: abstain
;; merge ends: BadOutput wardlet_merge names candidate 3: there are 3
;; filter answers: abstain
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func $three (export "wardlet_admit") (export "wardlet_merge") (export "wardlet_filter") (result i32)
    (i32.const 3)))
