;; A loop that declares a path of 1 KiB that is refused at its end.
;; refused: FuelExhausted wardlet_init: the call took more than
(module
  (import "wardlet1" "field" (func $field (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "object.metadata.labels['")
  (func (export "wardlet_init") (result i32)
    (memory.fill (i32.const 32) (i32.const 0x61) (i32.const 1000))
    (loop $again
      (drop (call $field (i32.const 8) (i32.const 1000)))
      (br $again))
    (unreachable))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
