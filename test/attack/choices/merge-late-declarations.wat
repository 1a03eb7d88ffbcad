;; Fields that are declared in the hooks, when it is too late.
;; merge answers: winner-0
;; filter answers: pass
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (import "wardlet1" "field" (func $field (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "candidates[*].source")
  (func $late (result i32)
    (i32.or (i32.ne (call $path (i32.const 8) (i32.const 20)) (i32.const -2))
      (i32.ne (call $field (i32.const 8) (i32.const 20)) (i32.const -2))))
  (func (export "wardlet_merge") (result i32)
    (call $late))
  (func (export "wardlet_filter") (result i32)
    (call $late)))
