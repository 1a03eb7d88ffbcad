;; 30 units each, and 1 for every 8 bytes; more than 64 KiB are done in pieces, which come to the same.
(module
  (memory (export "memory") 4)
  (data $text "0123456789abcdef")
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_admit") (result i32)
    (memory.fill (i32.const 0) (i32.const 1) (i32.const 0))
    (memory.fill (i32.const 0) (i32.const 1) (i32.const 7))
    (memory.fill (i32.const 0) (i32.const 1) (i32.const 800))
    (memory.copy (i32.const 0) (i32.const 4096) (i32.const 1600))
    (memory.init $text (i32.const 0) (i32.const 0) (i32.const 16))
    (memory.fill (i32.const 0) (i32.const 1) (i32.const 0x28000))                   ;; two pieces and a half
    (memory.copy (i32.const 0x10000) (i32.const 0) (i32.const 0x20000))
    (i32.const 0)))
