;; An input area that the record does not fit into.
;; ends: InputTooLarge the plugin's input area has 1
(module
  (memory (export "memory") 1)
  (data (i32.const 16) "\01\00\00\00")
  (func (export "wardlet_input") (result i32) (i32.const 16))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
