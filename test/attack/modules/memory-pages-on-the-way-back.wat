;; 900 calls deep, each reads and writes pages on the way back that nobody touched before.
;; pages: 1024
;; fuel: 10000000
;; answers: allow
(module
  (memory (export "memory") 1024)
  (func (export "wardlet_abi_1_0"))
  (func $down (param $n i32) (local $at i32)
    (if (local.get $n) (then (call $down (i32.sub (local.get $n) (i32.const 1)))))
    (local.set $at (i32.mul (local.get $n) (i32.const 0x10000)))
    (drop (i32.load offset=4094 (local.get $at)))
    (drop (i32.load offset=12286 (local.get $at)))
    (drop (i32.load offset=20478 (local.get $at)))
    (drop (i32.load offset=28670 (local.get $at)))
    (drop (i32.load offset=36862 (local.get $at)))
    (drop (i32.load offset=45054 (local.get $at)))
    (drop (i32.load offset=53246 (local.get $at)))
    (i32.store offset=4094 (local.get $at) (i32.const 1))
    (i32.store offset=12286 (local.get $at) (i32.const 1))
    (i32.store offset=20478 (local.get $at) (i32.const 1))
    (i32.store offset=28670 (local.get $at) (i32.const 1))
    (i32.store offset=36862 (local.get $at) (i32.const 1))
    (i32.store offset=45054 (local.get $at) (i32.const 1))
    (i32.store offset=53246 (local.get $at) (i32.const 1))
  )
  (func (export "wardlet_admit") (result i32)
    (call $down (i32.const 900))
    (i32.const 0)))
