;; A block of code that comes to 32 touches of memory ends there: what follows takes nothing if a branch jumps over it. None of these is
;; done.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (block $out
      (br_if $out (i32.const 1))    ;; 2
      ;; 12 touches, 12 times 4 units
      (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0)))
      (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0)))
      (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0)))
      ;; 8 touches, 4 times 4 units
      (i32.store (i32.const 0) (i32.const 0)) (i32.store (i32.const 0) (i32.const 0))
      (i32.store (i32.const 0) (i32.const 0)) (i32.store (i32.const 0) (i32.const 0))
      ;; 12 touches, 2 times 33 units
      (memory.fill (i32.const 0) (i32.const 0) (i32.const 0)) (memory.copy (i32.const 0) (i32.const 0) (i32.const 0))
      ;; another block
      (drop (i32.load (i32.const 0))) (memory.fill (i32.const 0) (i32.const 0) (i32.const 0)))
    (i32.const 0)))                 ;; 1
