;; Some lines to the log, in every call: what one call logs counts for the next.
;; answers: allow
(module
  (import "wardlet1" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32) (local $n i32)
    (loop $again
      (call $log (i32.const 3) (i32.const 0) (i32.const 4096))
      (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 10))))
    (i32.const 0)))
