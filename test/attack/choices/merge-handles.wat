;; Handles that nobody gave, and what a good one gives, written behind the memory.
;; merge answers: winner-0
;; merge fresh ends: BadOutput the plugin names 6 bytes at 0xffff, its memory has 65536
(module
  (import "wardlet1" "field" (func $field (param i32 i32) (result i32)))
  (import "wardlet1" "get" (func $get (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "candidates[0].running")
  (func (export "wardlet_init") (result i32)
    (i32.ne (call $field (i32.const 8) (i32.const 21)) (i32.const 0)))
  (func (export "wardlet_merge") (result i32)
    (drop (call $get (i32.const 0) (i32.const 64) (i32.const 6)))
    (if (i32.eqz (i32.load8_u (i32.const 69)))
      (then (drop (call $get (i32.const 0) (i32.const 0xffff) (i32.const 6)))))
    (i32.or (i32.or (i32.ne (call $get (i32.const 1) (i32.const 0) (i32.const -1)) (i32.const -1))
      (i32.ne (call $get (i32.const 64) (i32.const 0) (i32.const -1)) (i32.const -1)))
      (i32.or (i32.ne (call $get (i32.const 0x7fffffff) (i32.const 0) (i32.const -1)) (i32.const -1))
      (i32.ne (call $get (i32.const -1) (i32.const 0) (i32.const -1)) (i32.const -1))))))
