;; A candidate far behind the last one, as a field: there is none, and its containers are an empty list.
;; merge answers: winner-1
(module
  (import "wardlet1" "field" (func $field (param i32 i32) (result i32)))
  (import "wardlet1" "get" (func $get (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "candidates[2147483647].source")
  (func (export "wardlet_init") (result i32)
    (i32.ne (call $field (i32.const 8) (i32.const 29)) (i32.const 0)))
  (func (export "wardlet_merge") (result i32)
    (memory.fill (i32.const 64) (i32.const 0xff) (i32.const 8))
    ;; five bytes: missing
    (i32.and
      (i32.eq (call $get (i32.const 0) (i32.const 64) (i32.const 64)) (i32.const 5))
      (i64.eq (i64.load (i32.const 64)) (i64.const 0xffffff0000000000)))))
