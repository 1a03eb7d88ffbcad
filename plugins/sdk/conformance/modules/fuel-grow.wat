;; memory.grow takes 50 000 units for every page that it adds, and none for pages it does not add.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (drop (memory.grow (i32.const 0)))
    (drop (memory.grow (i32.const 2)))
    (drop (memory.grow (i32.const 100)))    ;; more than the policy allows
    (i32.const 0)))
