;; Handles, documents and settings that there are not: each is refused with a number.
;; answers: allow
(module
  (import "wardlet1" "get" (func $get (param i32 i32 i32) (result i32)))
  (import "wardlet1" "json" (func $json (param i32 i32 i32) (result i32)))
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.or
      (i32.or
        (i32.or (i32.ne (call $get (i32.const 0) (i32.const 0) (i32.const -1)) (i32.const -1))
          (i32.ne (call $get (i32.const -1) (i32.const 0) (i32.const -1)) (i32.const -1)))
        (i32.or (i32.ne (call $get (i32.const 0x7fffffff) (i32.const 0) (i32.const -1)) (i32.const -1))
          (i32.ne (call $json (i32.const -1) (i32.const 0) (i32.const -1)) (i32.const -1))))
      (i32.or
        (i32.or (i32.ne (call $json (i32.const 16) (i32.const 0) (i32.const -1)) (i32.const -1))
          (i32.ne (call $json (i32.const 0x8000000f) (i32.const 0) (i32.const -1)) (i32.const -1)))
        (i32.or (i32.ne (call $setting (i32.const 100) (i32.const 9) (i32.const 0) (i32.const -1)) (i32.const -1))
          (i32.ne (call $json (i32.const 3) (i32.const 0) (i32.const -1)) (i32.const -1)))))))
