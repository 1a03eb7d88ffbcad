;; A hook that wants to be told something.
;; filter refused: AbiMismatch exports wardlet_filter as (i32) -> (i32)
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_filter") (param i32) (result i32)
    (i32.const 0)))
