;; Writes to descriptors 1 and 2, in pieces: each line becomes a line of the log, and what has no end of line when the call ends
;; becomes one then. Shows the results: of both writes, of descriptors 0 and 3, of 1025 pieces, of pieces outside of the memory,
;; and how many bytes the first wrote.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wardlet1" "explain" (func $explain (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "0123456789abcdef")
  (data (i32.const 16) "one\ntwo")                                                 ;; 7 bytes
  (data (i32.const 32) "\10\00\00\00\07\00\00\00\11\00\00\00\03\00\00\00")    ;; two pieces: these 7 bytes, "ne\n"
  (func (export "wardlet_abi_1_0"))
  ;; $show gives bytes as the explanation, in hexadecimal digits.
  (func $show (param $from i32) (param $length i32)
    (local $i i32) (local $to i32)
    (local.set $to (i32.const 0x400))
    (block $done
      (loop $byte
        (br_if $done (i32.eq (local.get $i) (local.get $length)))
        (i32.store8 (local.get $to)
          (i32.load8_u (i32.shr_u (i32.load8_u (i32.add (local.get $from) (local.get $i))) (i32.const 4))))
        (i32.store8 offset=1 (local.get $to)
          (i32.load8_u (i32.and (i32.load8_u (i32.add (local.get $from) (local.get $i))) (i32.const 15))))
        (local.set $to (i32.add (local.get $to) (i32.const 2)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $byte)))
    (call $explain (i32.const 0x400) (i32.mul (local.get $length) (i32.const 2))))
  (func (export "wardlet_admit") (result i32)
    (i32.store8 (i32.const 0x100) (call $fd_write (i32.const 1) (i32.const 32) (i32.const 2) (i32.const 0x108)))
    (i32.store8 (i32.const 0x101) (call $fd_write (i32.const 2) (i32.const 32) (i32.const 1) (i32.const 0x200)))
    (i32.store8 (i32.const 0x102) (call $fd_write (i32.const 0) (i32.const 32) (i32.const 1) (i32.const 0x200)))
    (i32.store8 (i32.const 0x103) (call $fd_write (i32.const 3) (i32.const 32) (i32.const 1) (i32.const 0x200)))
    (i32.store8 (i32.const 0x104) (call $fd_write (i32.const 1) (i32.const 0x200) (i32.const 1025) (i32.const 0x200)))
    (i32.store8 (i32.const 0x105) (call $fd_write (i32.const 1) (i32.const 0xfff9) (i32.const 1) (i32.const 0x200)))
    (call $show (i32.const 0x100) (i32.const 0x0c))
    (i32.const 0)))
