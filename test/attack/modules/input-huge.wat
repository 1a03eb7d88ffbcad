;; An input area of 4 GiB.
;; refused: BadOutput wardlet_input names an area of 4294967295 bytes
(module
  (memory (export "memory") 1)
  (data (i32.const 16) "\ff\ff\ff\ff")
  (func (export "wardlet_input") (result i32) (i32.const 16))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
