package wasmtest

// The addresses that a plugin made here uses: its texts begin at Texts, and its input area is at
// Input. It has one page of memory.
const (
	Texts         = 16
	Input         = 32 << 10
	InputCapacity = 16 << 10
)

// Plugin returns a module that is a plugin of ABI version 1.0, still without its hooks.
func Plugin(imports ...Import) *Module {
	m := New(imports...)
	m.Memory(1)
	m.Export("wardlet_abi_1_0", m.Func(nil, nil, nil))
	return m
}

// Init adds the function wardlet_init. The value on the stack at its end is the result.
func (m *Module) Init(body ...Code) {
	m.Export("wardlet_init", m.Func(nil, []Type{I32}, nil, body...))
}

// Admit adds the hook admit, with four i32 locals. The value on the stack at its end is the answer:
// 0 allow, 1 deny, 2 hold, 3 abstain.
func (m *Module) Admit(body ...Code) {
	m.Export("wardlet_admit", m.Func(nil, []Type{I32}, []Type{I32, I32, I32, I32}, body...))
}

// Merge adds the hook merge, with four i32 locals. The value on the stack at its end is the
// winner's index in the list, or -1 keep current, -2 reject all, -3 abstain.
func (m *Module) Merge(body ...Code) {
	m.Export("wardlet_merge", m.Func(nil, []Type{I32}, []Type{I32, I32, I32, I32}, body...))
}

// Filter adds the hook filter, with four i32 locals. The value on the stack at its end is the
// answer: 0 pass, 1 drop, 2 defer, 3 abstain.
func (m *Module) Filter(body ...Code) {
	m.Export("wardlet_filter", m.Func(nil, []Type{I32}, []Type{I32, I32, I32, I32}, body...))
}

// Connect adds the hook connect, with four i32 locals. The value on the stack at its end is the
// answer.
func (m *Module) Connect(body ...Code) {
	m.Export("wardlet_connect", m.Func(nil, []Type{I32}, []Type{I32, I32, I32, I32}, body...))
}

// ValidateSettings adds the function wardlet_validate_settings. The value on the stack at its end
// is the result.
func (m *Module) ValidateSettings(body ...Code) {
	m.Export("wardlet_validate_settings", m.Func(nil, []Type{I32}, nil, body...))
}

// Reads makes wardlet_init declare a path with handle 0, failing if the path is refused, and makes
// an input area for the plugin. Use it instead of Init; the module must import Path.
func (m *Module) Reads(path string) {
	const address = 512
	m.Data(address, path)
	m.Data(Input, string([]byte{byte(InputCapacity & 0xff), byte(InputCapacity >> 8), 0, 0}))
	m.Init(I32Const(address), I32Const(int32(len(path))), Call(m.Imported("path")))
	m.Export("wardlet_input", m.Func(nil, []Type{I32}, nil, I32Const(Input)))
}

// Says returns code that calls reason, which the module must import. A module may use Says only
// once.
func (m *Module) Says(code, message string) Code {
	m.Data(Texts, code+message)
	return Join(
		I32Const(Texts), I32Const(int32(len(code))),
		I32Const(Texts+int32(len(code))), I32Const(int32(len(message))),
		Call(m.Imported("reason")),
	)
}

// Answering returns a plugin with the same answer to every question. code and message have at most
// 480 bytes together.
func Answering(answer int32, code, message string) []byte {
	m := Plugin(Reason)
	m.Admit(m.Says(code, message), I32Const(answer))
	return m.Bytes()
}

// Declaring returns a plugin that declares a field and allows every pod.
func Declaring(path string) []byte {
	m := Plugin(Path)
	m.Data(1024, path)
	m.Init(I32Const(1024), I32Const(int32(len(path))), Call(m.Imported("path")), Drop, I32Const(0))
	m.Data(Input, "\x00\x10\x00\x00")
	m.Export("wardlet_input", m.Func(nil, []Type{I32}, nil, I32Const(Input)))
	m.Admit(I32Const(0))
	return m.Bytes()
}

// Merging returns a plugin with the same answer to every question of the hook merge. code and
// message have at most 480 bytes together.
func Merging(answer int32, code, message string) []byte {
	m := Plugin(Reason)
	m.Merge(m.Says(code, message), I32Const(answer))
	return m.Bytes()
}

// Filtering returns a plugin with the same answer to every question of the hook filter. It asks to
// defer the update by a number of milliseconds unless they are negative. code and message have at
// most 480 bytes together.
func Filtering(answer int32, milliseconds int64, code, message string) []byte {
	m := Plugin(Reason, RetryAfter)
	retry := Join()
	if milliseconds >= 0 {
		retry = Join(I64Const(milliseconds), Call(m.Imported("retry_after_ms")))
	}
	m.Filter(m.Says(code, message), retry, I32Const(answer))
	return m.Bytes()
}

// Patching returns a plugin with the same answer to every question of the hooks admit, merge and
// filter, with a patch of at most 480 bytes.
func Patching(answer int32, patch string) []byte {
	m := Plugin(Patch)
	m.Data(Texts, patch)
	body := Join(I32Const(Texts), I32Const(int32(len(patch))), Call(m.Imported("patch")), I32Const(answer))
	m.Admit(body)
	m.Merge(body)
	m.Filter(body)
	return m.Bytes()
}

// HoldingFor returns a plugin that holds every pod and asks to be called again after a number of
// milliseconds.
func HoldingFor(milliseconds int64) []byte {
	m := Plugin(RetryAfter)
	m.Admit(I64Const(milliseconds), Call(m.Imported("retry_after_ms")), I32Const(2))
	return m.Bytes()
}

// Warning returns a plugin that allows every pod with a warning of at most 480 bytes.
func Warning(text string) []byte {
	m := Plugin(Warn)
	m.Data(Texts, text)
	m.Admit(I32Const(Texts), I32Const(int32(len(text))), Call(m.Imported("warn")), I32Const(0))
	return m.Bytes()
}

// Trapping returns a plugin that traps when it is asked.
func Trapping() []byte {
	m := Plugin()
	m.Admit(Unreachable)
	return m.Bytes()
}

// Looping returns a plugin that loops for ever when it is asked.
func Looping() []byte {
	m := Plugin()
	m.Admit(Loop(Br(0)), I32Const(0))
	return m.Bytes()
}

// LoopingAtInit returns a plugin that loops for ever in wardlet_init.
func LoopingAtInit() []byte {
	m := Plugin()
	m.Init(Loop(Br(0)), I32Const(0))
	m.Admit(I32Const(0))
	return m.Bytes()
}

// TrapAtInit returns a plugin that traps in wardlet_init.
func TrapAtInit() []byte {
	m := Plugin()
	m.Init(Unreachable)
	m.Admit(I32Const(0))
	return m.Bytes()
}

// RefusingSettings returns a plugin whose wardlet_init fails with a message of at most 480 bytes.
func RefusingSettings(message string) []byte {
	m := Plugin(Reason)
	m.Init(m.Says("", message), I32Const(1))
	m.Admit(I32Const(0))
	return m.Bytes()
}

// UnknownImport returns a plugin that imports a function that no host offers.
func UnknownImport() []byte {
	m := Plugin(Import{Module: "env", Name: "open_socket"})
	m.Admit(I32Const(0))
	return m.Bytes()
}

// NoHooks returns a plugin without hooks.
func NoHooks() []byte { return Plugin().Bytes() }

// Denying returns a plugin that denies a pod if the list of strings at path contains text, with
// code "Listed" and the text as message. It allows other pods, and abstains if there is no list.
// text has at most 400 bytes.
func Denying(path, text string) []byte {
	m := Plugin(Path, Reason)
	m.Reads(path)
	equal := m.Func([]Type{I32, I32, I32}, []Type{I32}, nil, equalBytes...)
	says := m.Says("Listed", text)
	const (
		kind  = Input + 8 + 4 // after the area's header, the record's count and the handle
		count = kind + 5
		first = count + 4
		list  = 5

		at, left, length = 0, 1, 2 // locals
	)
	m.Admit(
		I32Const(kind), I32Load8(0), I32Const(list), I32Ne, If(I32Const(3), Return),
		I32Const(first), LocalSet(at),
		I32Const(count), I32Load(0), LocalSet(left),
		Block(Loop(
			LocalGet(left), I32Eqz, BrIf(1),
			LocalGet(at), I32Load(1), LocalSet(length),
			LocalGet(length), I32Const(int32(len(text))), I32Eq, If(
				LocalGet(at), I32Const(5), I32Add, I32Const(Texts+int32(len("Listed"))), LocalGet(length), Call(equal),
				If(says, I32Const(1), Return),
			),
			LocalGet(at), LocalGet(length), I32Add, I32Const(5), I32Add, LocalSet(at),
			LocalGet(left), I32Const(1), I32Sub, LocalSet(left),
			Br(0),
		)),
		I32Const(0),
	)
	return m.Bytes()
}

// equalBytes compares the bytes at two addresses. The last parameter is their number.
var equalBytes = []Code{
	Block(Loop(
		LocalGet(2), I32Eqz, BrIf(1),
		LocalGet(0), I32Load8(0), LocalGet(1), I32Load8(0), I32Ne, If(I32Const(0), Return),
		LocalGet(0), I32Const(1), I32Add, LocalSet(0),
		LocalGet(1), I32Const(1), I32Add, LocalSet(1),
		LocalGet(2), I32Const(1), I32Sub, LocalSet(2),
		Br(0),
	)),
	I32Const(1),
}

// Drawing returns a plugin with a random message, which depends on everything that a plugin may
// read of a question, including its time. It denies, drops, or lets the second candidate win.
func Drawing() []byte {
	m := Plugin(WASI("random_get", I32, I32), Reason)
	draw := Join(
		I32Const(Input), I32Const(64), Call(m.Imported("random_get")), Drop,
		I32Const(0), I32Const(0), I32Const(Input), I32Const(64),
		Call(m.Imported("reason")), I32Const(1),
	)
	m.Admit(draw)
	m.Filter(draw)
	m.Merge(draw)
	m.Connect(draw)
	return m.Bytes()
}
