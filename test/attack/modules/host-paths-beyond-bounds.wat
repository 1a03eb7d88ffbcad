;; Declared paths that are too long, too deep, not UTF-8 or too many: each is refused with a number, and the plugin refuses.
;; refused: PluginError wardlet_init refuses with 1 and gives no reason; the last path it was refused
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (import "wardlet1" "field" (func $field (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "object.metadata.name")
  (data (i32.const 100) "object.spec.containers[\ff\fe\1b].image")
  (func (export "wardlet_init") (result i32) (local $n i32)
    (memory.fill (i32.const 0x1000) (i32.const 0x5b) (i32.const 0xe000)) ;; [[[[
    (if (i32.ne (call $path (i32.const 0x1000) (i32.const 0xe000)) (i32.const -1)) (then (unreachable)))
    (if (i32.ne (call $field (i32.const 0x1000) (i32.const 1024)) (i32.const -1)) (then (unreachable)))
    (if (i32.ne (call $field (i32.const 100) (i32.const 32)) (i32.const -1)) (then (unreachable)))
    (loop $again
      (if (i32.lt_s (call $field (i32.const 8) (i32.const 20)) (i32.const 0)) (then (return (i32.const 1))))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $again (i32.le_u (local.get $n) (i32.const 64))))
    (unreachable))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
