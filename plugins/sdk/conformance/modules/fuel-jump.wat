;; br_table takes 3 units. What follows it, up to the end of its block, is not reached and takes nothing.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (block $a
      (block $b
        (br_table $a $b (i32.const 1))      ;; 1 + 3
        (drop (i32.const 9)))               ;; unreachable: 0
      (drop (i32.const 9)))                 ;; 2
    (i32.const 0)))                         ;; 1
