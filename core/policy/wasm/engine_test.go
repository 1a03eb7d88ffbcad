package wasm

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/pod"
	w "github.com/wardlet/wardlet/core/policy/wasm/wasmtest"
)

func TestTheCacheIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		make func(path string) error
		want string
	}{
		"missing, with its parent": {func(string) error { return nil }, ""},
		"of its owner":             {func(path string) error { return os.MkdirAll(path, 0o700) }, ""},
		"readable by others":       {func(path string) error { return errors.Join(os.MkdirAll(path, 0o700), os.Chmod(path, 0o755)) }, "its mode is 0755: others could"},
		"writable by the group":    {func(path string) error { return errors.Join(os.MkdirAll(path, 0o700), os.Chmod(path, 0o720)) }, "its mode is 0720: others could"},
		"a link": {func(path string) error {
			return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(t.TempDir(), path))
		}, "not a directory, and links are not followed"},
		"a file": {func(path string) error {
			return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600))
		}, "not a directory"},
	} {
		path := filepath.Join(t.TempDir(), "parent", "cache")
		if err := test.make(path); err != nil {
			t.Fatal(err)
		}
		_, err := NewEngine(path, (&testLog{}).logger(0))
		switch {
		case test.want != "":
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v\nwant %s", name, err, test.want)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
		}
	}
}

// cached are the files of compiled code.
func cached(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// loadFrom loads a plugin that denies, asks it, and closes it.
func loadFrom(t *testing.T, e *Engine) {
	t.Helper()
	p, err := e.Load(t.Context(), w.Answering(1, "", ""), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if got := admit(t, p); got.Answer != pod.Deny {
		t.Errorf("answer %+v", got)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestCompiledCodeIsUsedAgain(t *testing.T) {
	t.Parallel()
	e, log := testEngine(t)
	loadFrom(t, e)
	files := cached(t, e.cacheDir)
	if len(files) != 1 {
		t.Fatalf("files %v, want one", files)
	}
	// A file that is written again would have another time.
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(files[0], then, then); err != nil {
		t.Fatal(err)
	}
	again, err := NewEngine(e.cacheDir, log.logger(0))
	if err != nil {
		t.Fatal(err)
	}
	loadFrom(t, again)
	if info, err := os.Stat(files[0]); err != nil || !info.ModTime().Equal(then) {
		t.Errorf("%v, %v", info, err)
	}
	if log.String() != "" {
		t.Errorf("log %s", log)
	}
}

func TestABrokenCacheIsRebuilt(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"an empty file":        func(path string) error { return os.Truncate(path, 0) },
		"a file cut short":     func(path string) error { return os.Truncate(path, 100) },
		"a file of other text": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("no code ", 100)), 0o600) },
		"a directory":          func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"code that was changed": func(path string) error {
			data, err := os.ReadFile(path)
			if err == nil {
				data[len(data)/2] ^= 1
				err = os.WriteFile(path, data, 0o600)
			}
			return err
		},
	} {
		e, log := testEngine(t)
		loadFrom(t, e)
		file := cached(t, e.cacheDir)[0]
		if err := damage(file); err != nil {
			t.Fatal(err)
		}
		loadFrom(t, e)
		if !strings.Contains(log.String(), "the cache of compiled plugins failed; it is emptied") {
			t.Errorf("%s: log %q", name, log)
		}
		if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() || info.Size() < 100 {
			t.Errorf("%s: not rebuilt: %v, %v", name, info, err)
		}
	}
}

func TestWithoutACachePluginsLoadAllTheSame(t *testing.T) {
	t.Parallel()
	e, log := testEngine(t)
	if err := os.RemoveAll(e.cacheDir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(e.cacheDir, nil, 0o600); err != nil { // nothing can be made below it
		t.Fatal(err)
	}
	loadFrom(t, e)
	if !strings.Contains(log.String(), `msg="a plugin is compiled without the cache" policy=test`) {
		t.Errorf("log %s", log)
	}
}

func TestPluginsOfOneModuleDoNotShareState(t *testing.T) {
	t.Parallel()
	e, _ := testEngine(t)
	var plugins []*Plugin
	for range 3 {
		p, err := e.Load(t.Context(), w.Denying("object.spec.@containers[*].image", "evil"), testOptions())
		if err != nil {
			t.Fatal(err)
		}
		plugins = append(plugins, p)
	}
	for len(plugins) > 0 { // closing one leaves the others alone
		for _, p := range plugins {
			if got := admit(t, p, "evil"); got.Answer != pod.Deny {
				t.Errorf("answer %+v", got)
			}
		}
		if err := plugins[0].Close(); err != nil {
			t.Error(err)
		}
		plugins = plugins[1:]
	}
}

func TestFailuresAtInit(t *testing.T) {
	t.Parallel()
	initialising := func(body ...w.Code) []byte {
		m := w.Plugin()
		m.Export("_initialize", m.Func(nil, nil, nil, body...))
		m.Admit(w.I32Const(0))
		return m.Bytes()
	}
	for name, test := range map[string]struct {
		module []byte
		want   string
	}{
		"_initialize traps":      {initialising(w.Unreachable), "Trap: _initialize: unreachable"},
		"wardlet_init traps":     {w.TrapAtInit(), "Trap: wardlet_init: unreachable"},
		"the settings are wrong": {w.RefusingSettings("allow is missing"), "PluginError: wardlet_init refuses: allow is missing"},
		"it holds all memory":    {initialising(w.I32Const(3), w.MemoryGrow, w.Drop, w.Unreachable), "MemoryLimit: _initialize: unreachable, with all the memory it may have in use"},
	} {
		e, _ := testEngine(t)
		_, err := e.Load(t.Context(), test.module, testOptions())
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: %v\nwant %s", name, err, test.want)
		}
		if _, ok := errors.AsType[*Failure](err); !ok {
			t.Errorf("%s: %T is no *Failure", name, err)
		}
	}
}

func TestInitialisationComesInOrder(t *testing.T) {
	t.Parallel()
	m := w.Plugin()
	step := w.Join(w.I32Const(3000), w.I32Const(3000), w.I32Load(0), w.I32Const(1), w.I32Add, w.I32Store(0))
	expect := func(n int32) w.Code {
		return w.Join(w.I32Const(3000), w.I32Load(0), w.I32Const(n), w.I32Ne, w.If(w.Unreachable))
	}
	m.Data(1024, "\x08\x00\x00\x00")
	m.Export("_initialize", m.Func(nil, nil, nil, expect(0), step))
	m.Init(expect(1), step, w.I32Const(0))
	m.Export("wardlet_input", m.Func(nil, []w.Type{w.I32}, nil, expect(2), step, w.I32Const(1024)))
	m.Admit(expect(3), step, w.I32Const(1))
	p, _ := load(t, m.Bytes())
	for range 2 {
		if got := admit(t, p); got.Answer != pod.Deny {
			t.Errorf("answer %+v", got)
		}
	}
}
