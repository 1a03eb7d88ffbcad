;; Runs a loop settings.turns times: 6 units each.
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "turns")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (local $left i32)
    (drop (call $setting (i32.const 0) (i32.const 5) (i32.const 16) (i32.const 13)))   ;; 4 + 4 + 1 + 100 + 1 + 3
    (local.set $left (i32.load (i32.const 21)))                                        ;; 1 + 2 + 1
    (loop $turns                                                                       ;; 1
      (br_if $turns                                                                    ;; 1
        (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))                  ;; 4
    (i32.const 0)))                                                                    ;; 1
