;; It grows its memory for ever, in the hooks merge and filter.
;; filter ends: MemoryLimit unreachable
;; merge ends: MemoryLimit unreachable
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func $grow
    (loop $again
      (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (unreachable))
  (func (export "wardlet_filter") (result i32)
    (call $grow)
    (i32.const 0))
  (func (export "wardlet_merge") (result i32)
    (call $grow)
    (i32.const 0)))
