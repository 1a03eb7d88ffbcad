;; A function that calls itself through a table.
;; ends: StackLimit calls are nested too deeply
(module
  (memory (export "memory") 1)
  (table funcref (elem $down))
  (func $down (call_indirect (i32.const 0)))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call_indirect (i32.const 0))
    (i32.const 0)))
