package memory

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

var errNone = errors.New("there is none")

func TestTheMethodFollowsWhatTheSystemCan(t *testing.T) {
	t.Parallel()
	noScan := without(func(k *kernel) { k.pagemap = -1 })
	noFile := without(func(k *kernel) { k.newFile = func() (int, error) { return -1, errNone } })
	noWatch := without(func(k *kernel) { k.watch = -1 })
	for name, test := range map[string]struct {
		size    int
		options []Option
		want    Method
	}{
		"all there is":                {size: 3392 << 10, want: Scan},
		"no userfaultfd":              {size: 3392 << 10, options: []Option{noWatch}, want: Scan},
		"no scan, large":              {size: copyUpTo + wasmPage, options: []Option{noScan}, want: Drop},
		"no scan, small":              {size: copyUpTo, options: []Option{noScan}, want: Copy},
		"no scan, drop wanted":        {size: wasmPage, options: []Option{noScan, By(Drop)}, want: Drop},
		"no files in memory":          {size: 3392 << 10, options: []Option{noFile}, want: Copy},
		"no files, scan wanted":       {size: wasmPage, options: []Option{noFile, By(Scan)}, want: Copy},
		"copy wanted":                 {size: 3392 << 10, options: []Option{By(Copy)}, want: Copy},
		"drop wanted, all there is":   {size: 3392 << 10, options: []Option{By(Drop)}, want: Drop},
		"scan wanted, no userfaultfd": {size: wasmPage, options: []Option{By(Scan), noWatch}, want: Scan},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, memory, want := prepared(t, test.size, test.options...)
			if l.Method() != test.want {
				t.Errorf("method %v, want %v", l.Method(), test.want)
			}
			other, otherMemory := newMemory(t, test.size, test.size, test.options...)
			if err := other.Adopt(l.snapshot); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				everyPage(memory, 1)
				everyPage(otherMemory, 2)
				restore(t, l)
				restore(t, other)
				mustEqual(t, memory, want)
				mustEqual(t, otherMemory, want)
			}
		})
	}
}

func TestAWantedScanMustBePossible(t *testing.T) {
	t.Parallel()
	noScan := without(func(k *kernel) { k.pagemap = -1 })
	if _, err := NewLinear(wasmPage, By(Scan), noScan); !errors.Is(err, errCannotScan) {
		t.Errorf("made: %v", err)
	}
	l, _ := newMemory(t, wasmPage, wasmPage, noScan)
	if _, err := l.Private(); !errors.Is(err, errCannotScan) {
		t.Errorf("counted: %v", err)
	}
}

func TestThePagemapIsTriedBeforeItIsTrusted(t *testing.T) { // counts open files
	plain := filepath.Join(t.TempDir(), "pagemap")
	if err := os.WriteFile(plain, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	files := openFiles(t)
	for name, path := range map[string]string{
		"missing": plain + "2", "a plain file": plain, "a device": "/dev/null", "another list": "/proc/self/maps",
	} {
		if file := openPagemap(path); file != -1 {
			t.Errorf("%s: file %d", name, file)
		}
	}
	if got := openFiles(t); got != files {
		t.Errorf("%d files are open, before it were %d", got, files)
	}
}

func TestAFailingScanDropsAllPages(t *testing.T) {
	t.Parallel()
	l, memory, want := prepared(t, 4*wasmPage, By(Scan))
	l.scan.pagemap = -1
	everyPage(memory, 1)
	if got := restore(t, l); got != (Restored{Dropped: len(memory), Fresh: len(memory)}) {
		t.Errorf("restored %+v, want all dropped", got)
	}
	mustEqual(t, memory, want)
}
