;; A loop that goes on by a table of branches.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (block $out
      (loop $again (br_table $again $again $out $again (i32.const 0))))
    (i32.const 0)))
