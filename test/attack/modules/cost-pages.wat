;; It changes a byte of each of the 4 096 pages of 16 MiB and answers: the host has to copy each, and to put each back.
;; pages: 256
;; answers: allow
(module
  (memory (export "memory") 256)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $at i32)
    (loop $again
      (i32.store8 (local.get $at) (i32.const 1))
      (br_if $again (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 4096))) (i32.const 0x1000000))))
    (i32.const 0)))
