;; A candidate's document, written behind the memory.
;; merge ends: BadOutput bytes at 0xfffc, its memory has 65536
(module
  (import "wardlet1" "json" (func $json (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_merge") (result i32)
    (drop (call $json (i32.const 18) (i32.const 0xfffc) (i32.const -1)))
    (i32.const 0)))
