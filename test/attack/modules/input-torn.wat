;; An input area whose header lies half outside.
;; refused: BadOutput wardlet_input names an area
(module
  (memory (export "memory") 1)
  (func (export "wardlet_input") (result i32) (i32.const 65534))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
