;; An if is part of the block around it as long as its arms take no more than 40 units together.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    ;; 2, and 40 that are not done
    (if (i32.const 0) (then
        (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9))
        (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9))
        (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9))
        (drop (i32.const 9)) (drop (i32.const 9))))
    ;; 2, and 2 of the arm that is done: together they have 42
    (if (i32.const 0)
      (then
        (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9))
        (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9))
        (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9))
        (drop (i32.const 9)) (drop (i32.const 9)))
      (else (drop (i32.const 9))))
    (i32.const 0)))                 ;; 1
