;; Every call begins with what wardlet_init left: a count in a global, one in memory, and the memory's size. The hook raises all
;; three, and shows what they were.
(module
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (memory (export "memory") 1)
  (global $count (mut i64) (i64.const 0))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_init") (result i32)
    (global.set $count (i64.const 5))                     ;; these stay
    (i32.store8 (i32.const 0) (i32.const 7))
    (i32.const 0))
  (func (export "wardlet_admit") (result i32)
    (i32.store8 (i32.const 8) (i32.add (i32.wrap_i64 (global.get $count)) (i32.const 48)))
    (i32.store8 (i32.const 9) (i32.add (i32.load8_u (i32.const 0)) (i32.const 48)))
    (i32.store8 (i32.const 10) (i32.add (memory.size) (i32.const 48)))
    (call $explain (i32.const 8) (i32.const 3))
    (global.set $count (i64.add (global.get $count) (i64.const 1)))
    (i32.store8 (i32.const 0) (i32.const 8))
    (drop (memory.grow (i32.const 1)))
    (i32.const 0)))
