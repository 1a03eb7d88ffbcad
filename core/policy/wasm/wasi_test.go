package wasm

import (
	"bytes"
	"encoding/binary"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// asking returns a plugin that calls one WASI function and stores the result at 2048.
func asking(f w.Import, args ...w.Code) *w.Module {
	m := w.Plugin(f)
	m.Admit(w.I32Const(2048), w.Join(args...), w.Call(0), w.I32Store(0), w.I32Const(0))
	return m
}

func TestWASIAnswers(t *testing.T) {
	t.Parallel()
	n := func(numbers ...int32) (code w.Code) {
		for _, number := range numbers {
			code = append(code, w.I32Const(number)...)
		}
		return code
	}
	const outside = 1<<16 - 2
	i := w.I32
	for name, test := range map[string]struct {
		f    w.Import
		args w.Code
		want errno
	}{
		"arguments":                        {w.WASI("args_get", i, i), n(0, 0), errnoSuccess},
		"environment":                      {w.WASI("environ_get", i, i), n(0, 0), errnoSuccess},
		"number of arguments":              {w.WASI("args_sizes_get", i, i), n(3000, 3004), errnoSuccess},
		"number of arguments, outside":     {w.WASI("args_sizes_get", i, i), n(3000, outside), errnoFault},
		"size of the environment":          {w.WASI("environ_sizes_get", i, i), n(3000, 3004), errnoSuccess},
		"size of the environment, outside": {w.WASI("environ_sizes_get", i, i), n(outside, 3000), errnoFault},
		"yield":                            {w.WASI("sched_yield"), nil, errnoSuccess},
		"wall clock":                       {w.WASI("clock_time_get", i, w.I64, i), w.Join(n(0), w.I64Const(1), n(3000)), errnoSuccess},
		"monotonic clock":                  {w.WASI("clock_time_get", i, w.I64, i), w.Join(n(1), w.I64Const(1), n(3000)), errnoSuccess},
		"processor time":                   {w.WASI("clock_time_get", i, w.I64, i), w.Join(n(2), w.I64Const(1), n(3000)), errnoUnsupported},
		"clock, outside":                   {w.WASI("clock_time_get", i, w.I64, i), w.Join(n(0), w.I64Const(1), n(outside)), errnoFault},
		"random":                           {w.WASI("random_get", i, i), n(3000, 8), errnoSuccess},
		"random, outside":                  {w.WASI("random_get", i, i), n(outside, 8), errnoFault},
		"status of standard output":        {w.WASI("fd_fdstat_get", i, i), n(1, 3000), errnoSuccess},
		"status, outside":                  {w.WASI("fd_fdstat_get", i, i), n(1, outside), errnoFault},
		"status of a file":                 {w.WASI("fd_fdstat_get", i, i), n(3, 3000), errnoBadFile},
		"flags of standard output":         {w.WASI("fd_fdstat_set_flags", i, i), n(1, 4), errnoSuccess},
		"flags of a file":                  {w.WASI("fd_fdstat_set_flags", i, i), n(-1, 4), errnoBadFile},
		"close standard error":             {w.WASI("fd_close", i), n(2), errnoSuccess},
		"close a file":                     {w.WASI("fd_close", i), n(3), errnoBadFile},
		"directories":                      {w.WASI("fd_prestat_get", i, i), n(3, 3000), errnoBadFile},
		"a directory's name":               {w.WASI("fd_prestat_dir_name", i, i, i), n(3, 3000, 10), errnoBadFile},
		"write to standard input":          {w.WASI("fd_write", i, i, i, i), n(0, 3000, 0, 3000), errnoBadFile},
		"write to a file":                  {w.WASI("fd_write", i, i, i, i), n(3, 3000, 0, 3000), errnoBadFile},
		"write nothing":                    {w.WASI("fd_write", i, i, i, i), n(1, 3000, 0, 3000), errnoSuccess},
		"write, result outside":            {w.WASI("fd_write", i, i, i, i), n(1, 3000, 0, outside), errnoFault},
		"write pieces outside":             {w.WASI("fd_write", i, i, i, i), n(1, outside, 1, 3000), errnoFault},
		"write too many pieces":            {w.WASI("fd_write", i, i, i, i), n(1, 0, 1025, 3000), errnoInvalid},
		"poll nothing":                     {w.WASI("poll_oneoff", i, i, i, i), n(3000, 4000, 0, 5000), errnoInvalid},
		"poll too much":                    {w.WASI("poll_oneoff", i, i, i, i), n(0, 0, 1025, 5000), errnoInvalid},
		"poll, outside":                    {w.WASI("poll_oneoff", i, i, i, i), n(outside, 4000, 1, 5000), errnoFault},
		"poll, events outside":             {w.WASI("poll_oneoff", i, i, i, i), n(3000, outside, 1, 5000), errnoFault},
		"poll, result outside":             {w.WASI("poll_oneoff", i, i, i, i), n(3000, 4000, 1, outside), errnoFault},
	} {
		p, _ := load(t, asking(test.f, test.args).Bytes())
		if got := errno(binary.LittleEndian.Uint32(memoryAfterAdmit(t, p, 2048, 4))); got != test.want {
			t.Errorf("%s: errno %d, want %d", name, got, test.want)
		}
	}
}

func TestWASIShowsATerminalForOutput(t *testing.T) {
	t.Parallel()
	for fd, want := range []string{"\x02\x00\x00\x00\x00\x00\x00\x00\x00", "\x02\x00\x00\x00\x00\x00\x00\x00\x40"} {
		p, _ := load(t, asking(w.WASI("fd_fdstat_get", w.I32, w.I32), w.I32Const(int32(fd)), w.I32Const(3000)).Bytes())
		got := memoryAfterAdmit(t, p, 3000, 24)
		if want := want + strings.Repeat("\x00", 15); string(got) != want {
			t.Errorf("descriptor %d: %q, want %q", fd, got, want)
		}
	}
}

func TestWASIHasNoArgumentsAndNoEnvironment(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"args_sizes_get", "environ_sizes_get"} {
		m := asking(w.WASI(name, w.I32, w.I32), w.I32Const(3000), w.I32Const(3004))
		m.Data(3000, "overwritten by this")
		p, _ := load(t, m.Bytes())
		if got := memoryAfterAdmit(t, p, 3000, 8); !bytes.Equal(got, make([]byte, 8)) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWASIExitEndsTheCall(t *testing.T) {
	t.Parallel()
	for status, want := range map[int32]string{
		0: "Trap: the plugin ended itself with status 0", 3: "Trap: the plugin ended itself with status 3",
	} {
		exit := w.WASI("proc_exit", w.I32)
		exit.Results = nil
		m := w.Plugin(exit)
		m.Admit(w.I32Const(status), w.Call(0), w.I32Const(0))
		p, _ := load(t, m.Bytes())
		for range 2 {
			if got := admitFailure(t, p); got.Error() != want {
				t.Errorf("%v\nwant %s", got, want)
			}
		}
	}
}

// subscription returns a subscription of poll_oneoff, to a clock or to a descriptor.
func subscription(user uint64, kind byte, number uint32, timeout uint64, absolute bool) string {
	b := make([]byte, subscriptionSize)
	binary.LittleEndian.PutUint64(b, user)
	b[8] = kind
	binary.LittleEndian.PutUint32(b[16:], number)
	binary.LittleEndian.PutUint64(b[24:], timeout)
	if absolute {
		b[40] = 1
	}
	return string(b)
}

func TestWASIWaitsTakeNoTime(t *testing.T) {
	t.Parallel()
	soon := uint64(abitest.Time.Add(5 * time.Second).UnixNano())
	for name, test := range map[string]struct {
		subscriptions []string
		want          time.Duration // by which the monotonic clock advances
		codes         []errno
	}{
		"a time":                    {[]string{subscription(7, 0, 1, 3e9, false)}, 3 * time.Second, []errno{0}},
		"the longest of several":    {[]string{subscription(7, 0, 1, 3e9, false), subscription(8, 0, 0, 4e9, false)}, 4 * time.Second, []errno{0, 0}},
		"until an instant":          {[]string{subscription(7, 0, 1, soon, true)}, 5 * time.Second, []errno{0}},
		"until an instant that was": {[]string{subscription(7, 0, 0, soon-6e9, true)}, 0, []errno{0}},
		"no time":                   {[]string{subscription(7, 0, 1, 0, false)}, 0, []errno{0}},
		"for ever":                  {[]string{subscription(7, 0, 1, 1<<64-1, false)}, 365 * 24 * time.Hour, []errno{0}},
		"for output":                {[]string{subscription(7, 2, 1, 0, false), subscription(9, 1, 0, 0, false)}, 0, []errno{0, 0}},
		"for a file":                {[]string{subscription(7, 1, 3, 0, false)}, 0, []errno{errnoBadFile}},
		"for what nobody knows":     {[]string{subscription(7, 9, 3, 0, false)}, 0, []errno{errnoInvalid}},
	} {
		clock := w.WASI("clock_time_get", w.I32, w.I64, w.I32)
		m := w.Plugin(w.WASI("poll_oneoff", w.I32, w.I32, w.I32, w.I32), clock)
		m.Data(3000, strings.Join(test.subscriptions, ""))
		m.Admit(
			w.I32Const(3000), w.I32Const(4000), w.I32Const(int32(len(test.subscriptions))), w.I32Const(5000), w.Call(0), w.Drop,
			w.I32Const(0), w.I64Const(1), w.I32Const(5008), w.Call(1), w.Drop,
			w.I32Const(1), w.I64Const(1), w.I32Const(5016), w.Call(1), w.Drop,
			w.I32Const(0),
		)
		p, _ := load(t, m.Bytes())
		for range 2 { // the clocks start anew for each call
			memory := memoryAfterAdmit(t, p, 4000, 1024)
			if got := binary.LittleEndian.Uint32(memory[1000:]); got != uint32(len(test.codes)) {
				t.Errorf("%s: %d events", name, got)
			}
			for i, want := range test.codes {
				event, asked := memory[i*eventSize:], []byte(test.subscriptions[i])
				if !bytes.Equal(event[:8], asked[:8]) || event[10] != asked[8] {
					t.Errorf("%s: event %v for %v", name, event[:eventSize], asked)
				}
				if got := errno(binary.LittleEndian.Uint16(event[8:])); got != want {
					t.Errorf("%s: errno %d, want %d", name, got, want)
				}
			}
			wall, monotonic := binary.LittleEndian.Uint64(memory[1008:]), binary.LittleEndian.Uint64(memory[1016:])
			if wall != uint64(abitest.Time.UnixNano()) {
				t.Errorf("%s: the wall clock shows %d", name, wall)
			}
			if got := time.Duration(monotonic - wall); got != test.want {
				t.Errorf("%s: the monotonic clock went on by %v, want %v", name, got, test.want)
			}
		}
	}
}

func TestNobodyWaitsLongerThanAYear(t *testing.T) {
	t.Parallel()
	m := w.Plugin(w.WASI("poll_oneoff", w.I32, w.I32, w.I32, w.I32), w.WASI("clock_time_get", w.I32, w.I64, w.I32))
	m.Data(3000, subscription(1, 0, 1, 1<<63, false))
	wait := w.Join(w.I32Const(3000), w.I32Const(4000), w.I32Const(1), w.I32Const(5000), w.Call(0), w.Drop)
	m.Admit(wait, wait, wait, w.I32Const(1), w.I64Const(1), w.I32Const(5016), w.Call(1), w.Drop, w.I32Const(0))
	p, _ := load(t, m.Bytes())
	got := binary.LittleEndian.Uint64(memoryAfterAdmit(t, p, 5016, 8))
	if want := uint64(abitest.Time.Add(365 * 24 * time.Hour).UnixNano()); got != want {
		t.Errorf("the monotonic clock shows %d, want %d", got, want)
	}
}

// rolling returns a plugin that stores four random bytes from its initialisation at 3000, and
// four from its last call at 3004.
func rolling() []byte {
	m := w.Plugin(w.WASI("random_get", w.I32, w.I32), w.Path)
	m.Data(512, "object.metadata.name")
	m.Data(w.Input, "\x00\x10\x00\x00")
	m.Init(w.I32Const(3000), w.I32Const(4), w.Call(0), w.Drop, w.I32Const(512), w.I32Const(20), w.Call(1))
	m.Export("wardlet_input", m.Func(nil, []w.Type{w.I32}, nil, w.I32Const(w.Input)))
	m.Admit(w.I32Const(3004), w.I32Const(4), w.Call(0), w.Drop, w.I32Const(0))
	return m.Bytes()
}

func TestRandomNumbersComeFromTheInput(t *testing.T) {
	t.Parallel()
	roll := func(settings map[string]any, name string) (init, call string) {
		p, _ := load(t, rolling(), func(o *Options) { o.Settings = settings })
		q := question(abitest.Pod())
		q.Question.Pod.Name = name
		for range 2 {
			got := string(memoryAfter(t, p, abi.HookAdmit, q, nil, 3000, 8))
			if call != "" && got != init+call {
				t.Errorf("the same question twice: %q, then %q", init+call, got)
			}
			init, call = got[:4], got[4:]
		}
		return init, call
	}
	init, call := roll(nil, "web")
	if init == "\x00\x00\x00\x00" || call == "\x00\x00\x00\x00" || init == call {
		t.Errorf("random numbers %q and %q", init, call)
	}
	if i, c := roll(nil, "web"); i != init || c != call {
		t.Error("another instance rolls otherwise")
	}
	if i, c := roll(nil, "db"); i != init || c == call {
		t.Error("another pod changes the init, or not the call")
	}
	if i, c := roll(map[string]any{"x": "y"}, "web"); i == init || c == call {
		t.Error("other settings change nothing")
	}
}

func TestWhatIsWrittenIsLogged(t *testing.T) {
	t.Parallel()
	m := w.Plugin(w.WASI("fd_write", w.I32, w.I32, w.I32, w.I32))
	var pieces []byte
	at := int32(1000)
	for _, piece := range []string{"first li", "ne\nsecond\x1b[0m\n", "", "unfinished"} {
		m.Data(at, piece)
		pieces = binary.LittleEndian.AppendUint32(pieces, uint32(at))
		pieces = binary.LittleEndian.AppendUint32(pieces, uint32(len(piece)))
		at += int32(len(piece))
	}
	m.Data(3000, string(pieces))
	write := func(fd int32) w.Code {
		return w.Join(w.I32Const(fd), w.I32Const(3000), w.I32Const(4), w.I32Const(2048), w.Call(0), w.Drop)
	}
	m.Admit(write(1), write(2), w.I32Const(0))
	p, log := load(t, m.Bytes())
	if n := binary.LittleEndian.Uint32(memoryAfterAdmit(t, p, 2048, 4)); n != uint32(at-1000) {
		t.Errorf("%d bytes written, want %d", n, at-1000)
	}
	want := `level=INFO msg="a plugin logs" policy=test text="first line"
level=INFO msg="a plugin logs" policy=test text=second\u001b[0m
level=WARN msg="a plugin logs" policy=test text="first line"
level=WARN msg="a plugin logs" policy=test text=second\u001b[0m
level=INFO msg="a plugin logs" policy=test text=unfinished
level=WARN msg="a plugin logs" policy=test text=unfinished
`
	if got := log.String(); got != want {
		t.Errorf("log\n%s\nwant\n%s", got, want)
	}
}

func TestATrapTellsWhatThePluginComplainedOf(t *testing.T) {
	t.Parallel()
	m := w.Plugin(w.WASI("fd_write", w.I32, w.I32, w.I32, w.I32))
	m.Data(1000, "panic: lost\nstack of calls\n")
	m.Data(3000, "\xe8\x03\x00\x00\x1b\x00\x00\x00")
	m.Admit(w.I32Const(2), w.I32Const(3000), w.I32Const(1), w.I32Const(2048), w.Call(0), w.Drop, w.Unreachable)
	p, _ := load(t, m.Bytes(), func(*Options) {})
	for range 2 {
		if got := admitFailure(t, p); got.Error() != "Trap: unreachable; it wrote: panic: lost" {
			t.Error(got)
		}
	}
}

func TestLogLines(t *testing.T) {
	t.Parallel()
	m := w.Plugin(w.Log, w.LogEnabled)
	hello, long := text(m, 1000, "hello\x00\n"), text(m, 4096, strings.Repeat("x", 5000))
	var body w.Code
	for level := range int32(4) {
		body = w.Join(body, w.I32Const(level), hello, w.Call(0))
	}
	for level := range int32(6) {
		body = w.Join(body, w.I32Const(2048+4*level), w.I32Const(level-1), w.Call(1), w.I32Store(0))
	}
	m.Admit(body, w.I32Const(3), long, w.Call(0), w.I32Const(0))
	log := &testLog{}
	e, err := NewEngine(t.TempDir()+"/cache", log.logger(slog.LevelInfo))
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Load(t.Context(), m.Bytes(), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var enabled []uint32
	for memory := memoryAfterAdmit(t, p, 2048, 24); len(memory) > 0; memory = memory[4:] {
		enabled = append(enabled, binary.LittleEndian.Uint32(memory))
	}
	if want := []uint32{0, 0, 1, 1, 1, 0}; !slices.Equal(enabled, want) { // levels -1 to 4
		t.Errorf("log_enabled gives %v, want %v", enabled, want)
	}
	want := `level=INFO msg="a plugin logs" policy=test text=hello\u0000\n
level=WARN msg="a plugin logs" policy=test text=hello\u0000\n
level=ERROR msg="a plugin logs" policy=test text=hello\u0000\n
level=ERROR msg="a plugin logs" policy=test text=` + strings.Repeat("x", 4096) + "\n"
	if got := log.String(); got != want {
		t.Errorf("log\n%.400s\nwant\n%.400s", got, want)
	}
}
