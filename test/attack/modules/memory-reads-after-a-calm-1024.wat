;; It counts for a while, so that the host gives it long slices, and then reads from each page of its memory for the first time.
;; pages: 1024
;; fuel: 10000000
;; answers: allow
(module
  (memory (export "memory") 1024)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $i i32) (local $at i32)
    (loop $burn
      (br_if $burn (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 250000))))
    (loop $again
      (drop (i32.load8_u (local.get $at)))
      (br_if $again (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 4096))) (i32.const 0x4000000))))
    (i32.const 0)))
