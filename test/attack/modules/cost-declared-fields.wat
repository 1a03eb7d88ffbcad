;; It declares the largest field 60 times, to be written into its record before each call.
;; pages: 128
;; ends: InputTooLarge the declared fields take more than
(module
  (import "wardlet1" "path" (func $path (param i32 i32) (result i32)))
  (memory (export "memory") 100)
  (data (i32.const 8) "object.metadata.annotations")
  (data (i32.const 1024) "\00\00\60\00") ;; 6 MiB
  (func (export "wardlet_init") (result i32) (local $n i32)
    (loop $again
      (drop (call $path (i32.const 8) (i32.const 27)))
      (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 60))))
    (i32.const 0))
  (func (export "wardlet_input") (result i32) (i32.const 1024))
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (i32.const 0)))
