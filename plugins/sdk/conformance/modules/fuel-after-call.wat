;; What comes after a call that may be deep is a block of its own: touches of memory count from there.
(module
  (memory (export "memory") 1)
  (func $leaf)
  (func $deep (call $leaf))         ;; 4
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (block $out
      ;; 20 times 4
      (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0)))
      (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0)))
      (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0)))
      (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0)))
      (call $deep)                  ;; 4
      ;; 11 times 4
      (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0)))
      (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0)))
      (drop (i32.load (i32.const 0)))
      (br_if $out (i32.const 1))    ;; 2
      ;; 10 times 4, none of them done
      (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0)))
      (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))) (drop (i32.load (i32.const 0))))
    (i32.const 0)))                 ;; 1
