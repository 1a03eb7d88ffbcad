;; It wants 4 GiB at once.
;; refused: MemoryLimit begins with 65536 pages of memory, the policy allows 4
(module
  (memory (export "memory") 65536)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
