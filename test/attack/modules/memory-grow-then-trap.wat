;; It takes all the memory that it may have, and traps when there is no more.
;; ends: MemoryLimit with all the memory it may have in use
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (loop $again
      (br_if $again (i32.ge_s (memory.grow (i32.const 1)) (i32.const 0))))
    (unreachable)))
