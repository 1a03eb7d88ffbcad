;; Its marker would trap; it is never called.
;; answers: allow
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0") (unreachable))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
