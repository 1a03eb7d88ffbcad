;; It looks for candidates in hooks that have none: there are none, whichever way it looks.
;; filter answers: pass
;; answers: allow
(module
  (import "wardlet1" "field" (func $field (param i32 i32) (result i32)))
  (import "wardlet1" "get" (func $get (param i32 i32 i32) (result i32)))
  (import "wardlet1" "json" (func $json (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 8) "candidates[*].source")
  (data (i32.const 28) "candidates[0].object.metadata.name")
  (func (export "wardlet_init") (result i32)
    (i32.or (i32.ne (call $field (i32.const 8) (i32.const 20)) (i32.const 0))
      (i32.ne (call $field (i32.const 28) (i32.const 34)) (i32.const 1))))
  (func $any (result i32)
    (memory.fill (i32.const 64) (i32.const 0xff) (i32.const 32))
    ;; an empty list of 9 bytes, a missing one of 5, no document
    (i32.or (i32.or (i32.ne (call $get (i32.const 0) (i32.const 64) (i32.const 16)) (i32.const 9))
      (i64.ne (i64.load (i32.const 65)) (i64.const 4)))
      (i32.or (i32.ne (call $get (i32.const 1) (i32.const 80) (i32.const 16)) (i32.const 5))
      (i32.ne (call $json (i32.const 16) (i32.const 0) (i32.const -1)) (i32.const -1)))))
  (func (export "wardlet_filter") (result i32)
    (call $any))
  (func (export "wardlet_admit") (result i32)
    (call $any)))
