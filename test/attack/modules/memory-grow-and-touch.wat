;; It takes 64 MiB and writes to every page, in every call.
;; pages: 1024
;; fuel: 100000000
;; answers: allow
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $at i32)
    (drop (memory.grow (i32.const 1023)))
    (loop $again
      (i32.store (local.get $at) (i32.const -1))
      (br_if $again (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 4096))) (i32.const 0x4000000))))
    (i32.const 0)))
