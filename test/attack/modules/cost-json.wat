;; It asks for the whole document, of 64 KiB, 2 000 times: what the host copies counts.
;; ends: FuelExhausted the call took more than
(module
  (import "wardlet1" "json" (func $json (param i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $n i32)
    (loop $again
      (drop (call $json (i32.const 1) (i32.const 0) (i32.const 0x20000)))
      (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 2000))))
    (i32.const 0)))
