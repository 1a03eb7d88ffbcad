;; It keeps what runs, where nothing does.
;; merge answers: keep
;; merge fresh ends: BadOutput wardlet_merge keeps what runs, but none of the 3 candidates runs
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_merge") (result i32)
    (i32.const -1)))
