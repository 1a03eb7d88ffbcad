;; It hands over a patch of 1024 operations, again and again.
;; fuel: 5000000
;; output: 1048576
;; ends: FuelExhausted the call took more than
(module
  (import "wardlet1" "patch" (func $patch (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 65000) "{\22op\22:\22test\22,\22path\22:\22\22},")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $n i32) (local $at i32)
    (i32.store8 (i32.const 0) (i32.const 0x5b)) ;; [
    (local.set $at (i32.const 1))
    (loop $operations
      (memory.copy (local.get $at) (i32.const 65000) (i32.const 24))
      (local.set $at (i32.add (local.get $at) (i32.const 24)))
      (br_if $operations (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 1024))))
    (i32.store8 (i32.sub (local.get $at) (i32.const 1)) (i32.const 0x5d)) ;; ]
    (loop $again
      (call $patch (i32.const 0) (local.get $at))
      (br $again))
    (unreachable)))
