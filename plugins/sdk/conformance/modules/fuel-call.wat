;; A call takes 4 units, one through a table 8; what the functions do comes to it.
(module
  (memory (export "memory") 1)
  (table funcref (elem $three))
  (func (export "wardlet_abi_1_0"))
  (func $three (result i32) (i32.add (i32.const 1) (i32.const 2)))             ;; 3
  (func (export "wardlet_admit") (result i32)
    (drop (call $three))                                                       ;; 4 + 3 + 1
    (drop (call_indirect (result i32) (i32.const 0)))                          ;; 1 + 8 + 3 + 1
    (i32.const 0)))                                                            ;; 1
