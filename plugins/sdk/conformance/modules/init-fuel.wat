;; wardlet_init has 500 000 000 units of fuel, of which each path takes 20 000: settings.paths says how many are declared,
;; settings.turns how often a loop of 10 units is run after that.
(module
  (import "wardlet1" "setting" (func $setting (param i32 i32 i32 i32) (result i32)))
  (import "wardlet1" "field" (func $field (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "pathsturnsrequest.node.")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_init") (result i32)
    (local $left i32)
    (drop (call $setting (i32.const 0) (i32.const 5) (i32.const 64) (i32.const 13)))   ;; 100 + 1 + 3
    (local.set $left (i32.load (i32.const 69)))
    (loop $paths                                                                       ;; 1
      (drop (call $field (i32.const 10) (i32.const 12)))                               ;; 7 + 100 + 3 + 20 000
      (br_if $paths                                                                    ;; 1
        (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))                  ;; 4
    (drop (call $setting (i32.const 5) (i32.const 5) (i32.const 64) (i32.const 13)))
    (local.set $left (i32.load (i32.const 69)))
    (loop $turns                                                                       ;; 1
      (drop (i32.const 0)) (drop (i32.const 0))                                        ;; 4
      (br_if $turns                                                                    ;; 1
        (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))                  ;; 4
    (i32.const 0))
  (func (export "wardlet_admit") (result i32) (i32.const 0)))
