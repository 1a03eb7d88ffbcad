;; A number behind all answers.
;; filter ends: BadOutput wardlet_filter gives 4: answers are 0 to 3
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_filter") (result i32)
    (i32.const 4)))
