;; Three functions that call each other through a table, by numbers they compute.
;; ends: StackLimit calls are nested too deeply
(module
  (memory (export "memory") 1)
  (type $next (func (param i32)))
  (table funcref (elem $a $b $c))
  (func $a (param i32) (call_indirect (type $next) (i32.add (local.get 0) (i32.const 1)) (i32.rem_u (i32.add (local.get 0) (i32.const 1)) (i32.const 3))))
  (func $b (param i32) (call_indirect (type $next) (i32.add (local.get 0) (i32.const 1)) (i32.rem_u (i32.add (local.get 0) (i32.const 1)) (i32.const 3))))
  (func $c (param i32) (call_indirect (type $next) (i32.add (local.get 0) (i32.const 1)) (i32.rem_u (i32.add (local.get 0) (i32.const 1)) (i32.const 3))))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call_indirect (type $next) (i32.const 0) (i32.const 0))
    (i32.const 0)))
