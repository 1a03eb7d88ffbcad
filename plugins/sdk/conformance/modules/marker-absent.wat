;; Without a marker a module is no plugin.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
