package compile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// refuse acquires an invalid module and returns the refusal.
func refuse(t *testing.T, f *fixture, module string) *Refused {
	t.Helper()
	_, err := f.Acquire(t.Context(), "", Whole([]byte(module)))
	refused, ok := errors.AsType[*Refused](err)
	if !ok {
		t.Fatal(err)
	}
	return refused
}

func TestARefusalIsVoidUnderOtherTerms(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Options)
		tried  int
	}{
		"the same":           {func(*Options) {}, 0},
		"another limit":      {func(o *Options) { o.Limits.Memory = 2 << 30 }, 1},
		"another revision":   {func(o *Options) { o.Revision = "2" }, 1},
		"more are kept":      {func(o *Options) { o.MaxBytes, o.MaxRefused = 1<<40, 9 }, 0},
		"the default, named": {func(o *Options) { o.Limits.Code = 64 << 20 }, 0},
	} {
		dir := t.TempDir() + "/cache"
		first := refuse(t, library(t, dir), "no module")
		f := library(t, dir, test.change)
		f.pass(time.Hour)
		again := refuse(t, f, "no module")
		if n := f.children(t); n != test.tried || again.At.After(first.At) != (n > 0) {
			t.Errorf("%s: tried %d times, want %d", name, n, test.tried)
		}
	}
	// Another version of wazero uses another directory.
	dir := t.TempDir() + "/cache"
	f := library(t, dir)
	r := refuse(t, f, "no module")
	f.cache.engine += "2"
	var err error
	f.cache.terms, err = terms(f.cache.engine, "", f.cache.options.Limits)
	check(t, err)
	if f.cache.Refused(r.Digest) != nil {
		t.Error("refused by another version of wazero")
	}
}

func TestWhatIsForgottenIsTriedAgain(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache")
	first := refuse(t, f, "no module")
	f.pass(time.Hour)
	if second := refuse(t, f, "no module"); *second != *first || f.children(t) != 1 {
		t.Errorf("tried again: %+v", second)
	}
	if text := first.Error(); text != "the module is refused (invalid, tried at 2026-11-21T12:00:00Z): invalid magic number" {
		t.Errorf("says %s", text)
	}
	check(t, f.cache.Forget(first.Digest))
	check(t, f.cache.Forget(first.Digest)) // no refusal is stored any more
	if third := refuse(t, f, "no module"); third.At.Sub(first.At) != time.Hour || f.children(t) != 2 {
		t.Errorf("not tried again: %+v", third)
	}
}

func TestTheOldestRefusalsAreForgotten(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache", func(o *Options) { o.MaxRefused = 3 })
	var digests []Digest
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		f.pass(time.Second)
		digests = append(digests, refuse(t, f, name).Digest)
	}
	var kept []bool
	for _, d := range digests {
		kept = append(kept, f.cache.Refused(d) != nil)
	}
	if !slices.Equal(kept, []bool{false, false, true, true, true}) {
		t.Errorf("kept %v", kept)
	}
	f.isClean(t)
}

func TestARefusalThatCannotBeReadIsMadeAnew(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"empty":     func(path string) error { return os.Truncate(path, 0) },
		"cut short": func(path string) error { return os.Truncate(path, 20) },
		"huge":      func(path string) error { return os.Truncate(path, 1<<40) },
		"of another": func(path string) error {
			return os.Rename(path, strings.Replace(path, filepath.Base(path), Digest{}.String(), 1))
		},
		"a pipe":      func(path string) error { return errors.Join(os.Remove(path), mkfifo(path)) },
		"a directory": func(path string) error { return errors.Join(os.Remove(path), os.MkdirAll(path+"/a", 0o700)) },
		"a link":      func(path string) error { return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path)) },
	} {
		f := library(t, t.TempDir()+"/cache")
		r := refuse(t, f, "no module")
		path := f.cache.primary.refusalPath(r.Digest)
		check(t, damage(path))
		for range 2 {
			if again := refuse(t, f, "no module"); *again != *r {
				t.Errorf("%s: %+v", name, again)
			}
		}
		if info, err := os.Lstat(path); f.children(t) != 2 || err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: tried %d times, want 2; %v, %v", name, f.children(t), info, err)
		}
		f.isClean(t)
		if f.out.String() != "" {
			t.Errorf("%s: log %s", name, f.out)
		}
	}
	f := library(t, t.TempDir()+"/cache")
	r := refuse(t, f, "no module")
	check(t, os.Rename(f.cache.primary.refusalPath(r.Digest), f.cache.primary.refusalPath(Digest{})))
	if f.cache.Refused(Digest{}) != nil {
		t.Error("a refusal counts for another module")
	}
}
