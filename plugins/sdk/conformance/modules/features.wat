;; What a module may use beside WebAssembly 1.0, each once: all of it must compile, and the answer is 0 only if all of it works.
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (table funcref (elem $two))
  (data $text "wardlet")
  (func $two (result i32 i32) (i32.const 8) (i32.const 1))
  (func (export "wardlet_admit") (result i32)
    (local $sum i32)
    ;; multi-value: 8 - 1 = 7
    (call $two) (i32.sub)
    ;; bulk memory: the data's length is found by what was copied
    (memory.init $text (i32.const 0) (i32.const 0) (i32.const 7))
    (memory.fill (i32.const 7) (i32.const 1) (i32.const 1))
    (memory.copy (i32.const 16) (i32.const 0) (i32.const 8))
    (i32.sub (i32.load8_u (i32.const 22)) (i32.const 116)) (i32.add)    ;; + "t" - 116 = 7
    (i32.load8_u (i32.const 23)) (i32.sub)                             ;; - 1 = 6
    ;; sign extension: 0xff is -1
    (i32.extend8_s (i32.const 0xff)) (i32.add)                         ;; 5
    ;; saturating conversion: infinity is the largest number
    (i32.eq (i32.trunc_sat_f32_s (f32.const inf)) (i32.const 0x7fffffff)) (i32.sub)   ;; 4
    ;; reference types
    (ref.is_null (ref.null extern)) (i32.sub)                          ;; 3
    (ref.is_null (table.get 0 (i32.const 0))) (i32.sub)                ;; 3
    ;; SIMD
    (i32x4.extract_lane 3 (i32x4.splat (i32.const 3))) (i32.sub))      ;; 0
)
