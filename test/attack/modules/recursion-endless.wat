;; A function that calls itself.
;; ends: StackLimit calls are nested too deeply
(module
  (memory (export "memory") 1)
  (func $down (param i32) (result i32) (i32.add (call $down (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call $down (i32.const 0))))
