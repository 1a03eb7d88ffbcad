package compile

import (
	"bufio"
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestATaskIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	want := task{Dir: "/a/b", Length: 3, Digest: digestOf([]byte("abc")).String(), Limits: Limits{CPU: time.Second}.withDefaults(), Priority: Normal}
	line, err := want.encode()
	check(t, err)
	r := bufio.NewReaderSize(bytes.NewReader(append(line, "abcd"...)), maxLine)
	got, err := readTask(r)
	check(t, err)
	if *got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if module, err := got.readModule(r); string(module) != "abc" || err != nil {
		t.Errorf("%q, %v", module, err)
	}
}

func TestATaskThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"":                                        "the task has no end within 65536 bytes: EOF",
		`{"dir":"/a"}`:                            "the task has no end within 65536 bytes: EOF",
		strings.Repeat(" ", maxLine+1):            "the task has no end within 65536 bytes: ",
		"hello\n":                                 "the task is not JSON",
		`{"dir":"a"}` + "\n":                      `the directory "a" is not an absolute path`,
		`{"dir":"/a","length":-1}` + "\n":         "a module of -1 bytes",
		`{"dir":"/a","length":100000000}` + "\n":  "a module of 100000000 bytes: at most 33554432",
		`{"dir":"/a","priority":5}` + "\n":        "no priority 5",
		`{"dir":"/a","limits":{"cpu":-1}}` + "\n": "none may be negative",
	} {
		if _, err := readTask(bufio.NewReaderSize(strings.NewReader(input), maxLine)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v\nwant %s", input, err, want)
		}
	}
	short := task{Length: 4, Digest: digestOf([]byte("abcd")).String()}
	if _, err := short.readModule(strings.NewReader("abc")); err == nil || !strings.Contains(err.Error(), "not whole") {
		t.Error(err)
	}
	if _, err := short.readModule(strings.NewReader("abce")); err == nil || !strings.Contains(err.Error(), "does not match its digest") {
		t.Error(err)
	}
}

func TestTextIsOneLineThatCanBeShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                  "",
		"\n\n a b \nc":                      "a b",
		"a\x1b[31mred\x00":                  `a\x1b[31mred\x00`,
		strings.Repeat("a", maxText):        strings.Repeat("a", maxText),
		strings.Repeat("ä", maxText):        strings.Repeat("ä", maxText/2) + "…",
		strings.Repeat("b", maxText+1) + "": strings.Repeat("b", maxText) + "…",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzTask(f *testing.F) {
	line, err := (&task{Dir: "/a/b", Digest: digestOf(nil).String(), Limits: Limits{}.withDefaults()}).encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readTask(bufio.NewReaderSize(bytes.NewReader(data), maxLine))
		if err != nil {
			return
		}
		line, err := got.encode()
		check(t, err)
		again, err := readTask(bufio.NewReaderSize(bytes.NewReader(line), maxLine))
		if err != nil || *again != *got {
			t.Errorf("%+v and %+v, %v", got, again, err)
		}
	})
}

func FuzzReport(f *testing.F) {
	for _, seed := range []string{
		"{}\n", `{"refused":"cpu","text":"a"}` + "\n", `{"failed":true,"disk":true}` + "\n",
		`{"files":[{"name":"wazero-v1-amd64-linux/` + strings.Repeat("0a", 32) + `","size":3,"crc32c":4}],"shell":{"name":"shell.wasm","size":9},"image":{"name":"code.bin","size":2},"cost":{"cpu":5}}` + "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseReport(data)
		if err != nil {
			return
		}
		for _, c := range r.Files {
			if strings.Contains(c.Name, "..") || strings.HasPrefix(c.Name, "/") || strings.Count(c.Name, "/") != 1 || c.Size < 0 {
				t.Errorf("file %+v", c)
			}
		}
		if r.Shell != nil && (r.Shell.Name != shellName || r.Shell.Size < 0 || r.Shell.Size > maxShell) {
			t.Errorf("shell %+v", r.Shell)
		}
		if r.Image != nil && (r.Image.Name != imageName || r.Image.Size < 1 || r.Shell == nil) {
			t.Errorf("image %+v", r.Image)
		}
	})
}

func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"module":"` + strings.Repeat("ab", 32) + `","engine":"wazero-v1","files":[{"name":"wazero-v1/` + strings.Repeat("0a", 32) + `"}],"shell":{"name":"shell.wasm"}}`))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := readEntry(bytes.NewReader(data))
		if err != nil {
			return
		}
		again, err := readEntry(bytes.NewReader(data))
		if err != nil || !reflect.DeepEqual(e, again) || len(e.Files) > maxFiles {
			t.Errorf("%+v and %+v, %v", e, again, err)
		}
	})
}

func FuzzRefusal(f *testing.F) {
	f.Add([]byte(`{"terms":"t","module":"m","reason":"wall","text":"x","at":"2026-11-21T12:00:00Z"}`))
	f.Add([]byte(`{"reason":"none"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := readRefusal(bytes.NewReader(data)); err == nil && !r.Reason.known() {
			t.Errorf("%+v", r)
		}
	})
}
