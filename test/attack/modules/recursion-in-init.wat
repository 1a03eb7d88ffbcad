;; A function that calls itself while the plugin is set up.
;; refused: StackLimit wardlet_init: calls are nested too deeply
(module
  (memory (export "memory") 1)
  (func $down (export "wardlet_init") (result i32) (i32.add (call $down) (i32.const 1)))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
