;; The input area ends one byte after the memory.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (data (i32.const 0xff00) "\f9\00\00\00")
  (func (export "wardlet_input") (result i32) (i32.const 0xff00))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
