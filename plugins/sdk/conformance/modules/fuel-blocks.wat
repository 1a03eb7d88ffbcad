;; Code is counted by blocks: when the first instruction of one is reached, all of them are taken.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (local $i i32)
    ;; From the function's begin to the loop, also what the branch jumps over: 2 + 2 = 4.
    (block $out
      (br_if $out (i32.const 1))            ;; 1 + 1
      (drop (i32.const 9)))                 ;; 1 + 1, though it is jumped over
    ;; After the end of a block that a branch goes to a new one begins: 2, of which the constant and local.set.
    (local.set $i (i32.const 3))
    ;; After loop: 1, and 5 for the instructions, three times over: 18.
    (loop $again
      (br_if $again (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
    ;; After its end: 2 for the constant and if, 8 for both arms, which are short, and 2 after them, of the same block.
    (if (i32.const 0)
      (then (drop (i32.const 9)) (drop (i32.const 9)) (drop (i32.const 9)))
      (else (drop (i32.const 9))))
    ;; What follows return takes nothing.
    (return (i32.const 0))
    (drop (i32.const 9))
    (i32.const 1)))
