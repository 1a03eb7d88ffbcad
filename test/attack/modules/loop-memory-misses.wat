;; A loop that reads where no cache helps, all over 16 MiB.
;; pages: 256
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 256)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $at i32)
    (loop $again
      (local.set $at (i32.and (i32.add (i32.mul (local.get $at) (i32.const 1103515245)) (i32.const 12345)) (i32.const 0xfffff8)))
      (i64.store (local.get $at) (i64.add (i64.load (local.get $at)) (i64.const 1)))
      (br $again))
    (unreachable)))
