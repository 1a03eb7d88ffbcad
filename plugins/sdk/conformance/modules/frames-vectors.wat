;; Where a function has values of type v128 everything in it takes 16 bytes: the parameter, 64 local variables and two operands
;; 1072, and with 20 bytes of code (the declaration of the variables among them) a call takes 1092.
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "depth")
  (func (export "wardlet_abi_1_0"))
  (func $down (param $left i32)
    (local v128 v128)
    (local
      i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64
      i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64 i64
      i64 i64)
    (if (local.tee $left (i32.sub (local.get $left) (i32.const 1)))
      (then (call $down (local.get $left)))))
  (func (export "wardlet_admit") (result i32)
    (drop (call $setting (i32.const 0) (i32.const 5) (i32.const 16) (i32.const 13)))
    (call $down (i32.load (i32.const 21)))
    (i32.const 0)))
