;; The least number there is.
;; filter ends: PluginError wardlet_filter reports an error with -2147483648
(module
  (memory (export "memory") 1)
  (func (export "wardlet_abi_1_0"))
  (func (export "wardlet_filter") (result i32)
    (i32.const 0x80000000)))
