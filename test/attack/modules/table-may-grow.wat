;; A table of one entry that may grow to 2^32-1, which costs nothing until it does, and it never does.
;; answers: allow
(module
  (memory (export "memory") 1)
  (table 1 0xffffffff externref)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
