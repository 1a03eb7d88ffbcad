;; It takes long to set itself up, and traps in every call, so that it must be set up again.
;; ends: Trap unreachable
(module
  (memory (export "memory") 1)
  (func (export "wardlet_init") (result i32) (local $n i32)
    (local.set $n (i32.const 10000000))
    (loop $again (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (i32.const 0))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (unreachable)))
