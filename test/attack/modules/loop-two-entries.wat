;; Two loops that hand over to each other through an outer one, by a table of branches.
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $turn i32)
    (loop $outer
      (local.set $turn (i32.xor (local.get $turn) (i32.const 1)))
      (block $one
        (block $two (br_table $one $two (local.get $turn)))
        (loop $b (br_table $outer $outer (i32.const 5))))
      (loop $a (br_table $outer $outer (i32.const 0))))
    (i32.const 0)))
