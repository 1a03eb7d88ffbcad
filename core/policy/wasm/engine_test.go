package wasm

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	w "github.com/wardlet/wardlet/test/wasmtest"
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
		e, err := NewEngine(path, (&testLog{}).logger(0))
		if err == nil {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
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
	for len(plugins) > 0 { // closing a plugin does not affect the others
		for _, p := range plugins {
			if got := admit(t, p, "evil"); got.Answer != api.Deny {
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
		if _, ok := errors.AsType[*abi.Failure](err); !ok {
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
		if got := admit(t, p); got.Answer != api.Deny {
			t.Errorf("answer %+v", got)
		}
	}
}
