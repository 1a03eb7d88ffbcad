;; Calls itself settings.depth times, one call within the other. The stack has room for 1024 calls, the hook's own among them:
;; each of these takes the least that a call takes.
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "depth")
  (func (export "wardlet_abi_1_0"))
  (func $down (param $left i32)
    (if (local.tee $left (i32.sub (local.get $left) (i32.const 1)))
      (then (call $down (local.get $left)))))
  (func (export "wardlet_admit") (result i32)
    (drop (call $setting (i32.const 0) (i32.const 5) (i32.const 16) (i32.const 13)))
    (call $down (i32.load (i32.const 21)))
    (i32.const 0)))
