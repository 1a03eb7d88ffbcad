;; A loop that changes a byte of every page, in straight order, and then again: the host has to put back as many.
;; pages: 64
;; ends: FuelExhausted the call took more than
(module
  (memory (export "memory") 64)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $at i32)
    (loop $again
      (i32.store8 (local.get $at) (i32.add (i32.load8_u (local.get $at)) (i32.const 1)))
      (local.set $at (i32.and (i32.add (local.get $at) (i32.const 4096)) (i32.const 0x3fffff)))
      (br $again))
    (unreachable)))
