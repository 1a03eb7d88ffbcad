;; It asks for a field of 64 KiB, 2 000 times: what the host copies counts.
;; ends: FuelExhausted the call took more than
(module
  (import "wardlet1" "field" (func $field (param i32 i32) (result i32)))
  (import "wardlet1" "get" (func $get (param i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 8) "object.metadata.annotations")
  (func (export "wardlet_init") (result i32)
    (i32.ne (call $field (i32.const 8) (i32.const 27)) (i32.const 0)))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $n i32)
    (loop $again
      (drop (call $get (i32.const 0) (i32.const 1024) (i32.const 0x20000)))
      (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 2000))))
    (i32.const 0)))
