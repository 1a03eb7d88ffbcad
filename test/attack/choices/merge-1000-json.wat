;; The documents of 1 000 candidates as JSON, one after the other.
;; candidates: 1000
;; merge ends: FuelExhausted the call took more than
(module
  (import "wardlet1" "json" (func $json (param i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_merge") (result i32)
    (local $i i32)
    (loop $next
      (drop (call $json (i32.add (i32.const 16) (local.get $i)) (i32.const 0) (i32.const 0)))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 1000))))
    (i32.const 0)))
