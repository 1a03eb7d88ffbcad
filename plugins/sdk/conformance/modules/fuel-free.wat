;; What takes nothing: block, end, nop, and the loop itself. What begins after it takes 1, and so does the answer.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (nop) (nop)
    (block (block (nop)))
    (loop (nop))               ;; a block of its own: 1
    (i32.const 0)))            ;; 1
