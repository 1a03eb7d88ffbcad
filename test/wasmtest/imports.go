package wasmtest

// The functions of the ABI that tests import.
var (
	Path       = Import{"wardlet1", "path", []Type{I32, I32}, []Type{I32}}
	Field      = Import{"wardlet1", "field", []Type{I32, I32}, []Type{I32}}
	Get        = Import{"wardlet1", "get", []Type{I32, I32, I32}, []Type{I32}}
	JSON       = Import{"wardlet1", "json", []Type{I32, I32, I32}, []Type{I32}}
	Patch      = Import{"wardlet1", "patch", []Type{I32, I32}, nil}
	Setting    = Import{"wardlet1", "setting", []Type{I32, I32, I32, I32}, []Type{I32}}
	Reason     = Import{"wardlet1", "reason", []Type{I32, I32, I32, I32}, nil}
	Warn       = Import{"wardlet1", "warn", []Type{I32, I32}, nil}
	Annotate   = Import{"wardlet1", "annotate", []Type{I32, I32, I32, I32}, nil}
	Explain    = Import{"wardlet1", "explain", []Type{I32, I32}, nil}
	RetryAfter = Import{"wardlet1", "retry_after_ms", []Type{I64}, nil}
	Log        = Import{"wardlet1", "log", []Type{I32, I32, I32}, nil}
	LogEnabled = Import{"wardlet1", "log_enabled", []Type{I32}, []Type{I32}}
)

// WASI returns a function of wasi_snapshot_preview1 that returns an errno.
func WASI(name string, params ...Type) Import {
	return Import{"wasi_snapshot_preview1", name, params, []Type{I32}}
}
