;; A patch takes 16 units for every byte, and is handed over.
(module
  (import "wardlet1" "patch" (func $patch (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "[]                             ")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call $patch (i32.const 0) (i32.const 2))
    (call $patch (i32.const 0) (i32.const 31))
    (i32.const 0)))
