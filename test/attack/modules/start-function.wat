;; A function that runs before the host is ready.
;; refused: AbiMismatch the module has a start function
(module
  (memory (export "memory") 1)
  (start $first)
  (func $first (loop $again (br $again)))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
