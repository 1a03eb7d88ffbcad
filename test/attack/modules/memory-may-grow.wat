;; It says that its memory may grow to 4 GiB: it gets what the policy allows, and takes nothing until it does.
;; answers: allow
(module
  (memory (export "memory") 1 65536)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.or
      (i32.ne (memory.grow (i32.const 4)) (i32.const -1)) ;; 5 pages, the policy allows 4
      (i32.ne (memory.size) (i32.const 1)))))
