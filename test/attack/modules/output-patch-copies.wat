;; A patch of operations that would double the document.
;; ends: BadOutput patch
(module
  (import "wardlet1" "patch" (func $patch (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 8) "[{\22op\22:\22copy\22,\22from\22:\22\22,\22path\22:\22/a\22}]")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (call $patch (i32.const 8) (i32.const 35))
    (i32.const 0)))
