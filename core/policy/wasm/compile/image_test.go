package compile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"golang.org/x/sys/unix"
)

// mapped returns what the kernel reports about the mapping at an address: the file, empty for
// none, and how many bytes are resident.
func mapped(t *testing.T, code []byte) (file string, resident int) {
	t.Helper()
	if len(code) == 0 {
		t.Fatal("no image is laid: may nothing run from the directory of the test?")
	}
	text, err := os.ReadFile("/proc/self/smaps")
	check(t, err)
	_, rest, found := strings.Cut("\n"+string(text), fmt.Sprintf("\n%x-", &code[0]))
	if !found {
		t.Fatalf("nothing begins at %p", &code[0])
	}
	for line := range strings.Lines(rest) {
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Rss:"):
			kilobytes, err := strconv.Atoi(fields[1])
			check(t, err)
			return file, kilobytes << 10
		case len(fields) >= 6:
			file = fields[5]
		}
	}
	t.Fatal("nothing is said of what is resident")
	return "", 0
}

func TestTheImageTakesThePlaceOfTheCode(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache")
	code := acquire(t, f, small(7))
	defer code.Release()
	dir, _ := stored(t, f, small(7))
	if file, _ := mapped(t, code.held.laid); file != filepath.Join(dir, imageName) {
		t.Errorf("%q is mapped", file)
	}
	answers(t, f, code, 7)
	check(t, unix.Madvise(code.held.laid, unix.MADV_DONTNEED))
	answers(t, f, code, 7)
}

func TestCodeGoesOnRunningAfterItsFilesAreGone(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache")
	code := acquire(t, f, small(7))
	defer code.Release()
	check(t, os.RemoveAll(f.dir))
	check(t, drop(code.held.laid))
	answers(t, f, code, 7)
}

func TestCodeThatNobodyRunsHoldsNoPages(t *testing.T) {
	t.Parallel()
	const (
		asks, rests = true, false
		leaves      = -1 // user 1 leaves; users 0 and 1 are there from the start
	)
	type step struct {
		user    int
		used    bool
		dropped bool
	}
	for name, steps := range map[string][]step{
		"one that asks":                    {{0, asks, false}, {0, asks, false}},
		"one that rests":                   {{0, asks, false}, {0, rests, true}},
		"once only":                        {{0, rests, true}, {0, rests, false}, {0, rests, false}},
		"again after it was asked":         {{0, rests, true}, {0, asks, false}, {0, rests, true}},
		"not while another asks":           {{1, asks, false}, {0, rests, false}, {1, asks, false}, {0, rests, false}},
		"when the last of two rests":       {{0, rests, false}, {1, rests, true}, {0, rests, false}},
		"again when one of two asked":      {{0, rests, false}, {1, rests, true}, {1, asks, false}, {0, rests, false}, {1, rests, true}},
		"nobody counts twice":              {{1, asks, false}, {0, rests, false}, {0, rests, false}, {1, rests, true}},
		"when the one that asks has left":  {{1, asks, false}, {0, rests, false}, {user: leaves}, {0, rests, true}},
		"not because one that rests left":  {{1, rests, false}, {0, asks, false}, {user: leaves}, {0, asks, false}},
		"one that left says nothing":       {{1, asks, false}, {user: leaves}, {1, rests, false}, {0, asks, false}, {0, rests, true}},
		"again when another came and left": {{1, rests, false}, {0, rests, true}, {user: leaves}, {2, asks, false}, {2, rests, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := library(t, t.TempDir()+"/cache")
			module := broad(100 << 10)
			users := map[int]*Code{0: acquire(t, f, module)}
			if slices.ContainsFunc(steps, func(s step) bool { return s.user == 1 }) {
				users[1] = acquire(t, f, module)
			}
			laid := users[0].held.laid
			for n, s := range steps {
				if s.user == leaves {
					users[1].Release()
					continue
				}
				if users[s.user] == nil {
					users[s.user] = acquire(t, f, module)
				}
				touch(laid)
				users[s.user].Trim(s.used)
				if _, resident := mapped(t, laid); (resident == 0) != s.dropped {
					t.Errorf("step %d: %d bytes are resident", n, resident)
				}
			}
			for _, user := range users {
				user.Release()
			}
		})
	}
}

// touch reads one byte of each page.
func touch(code []byte) (sum byte) {
	for at := 0; at < len(code); at += os.Getpagesize() {
		sum += code[at]
	}
	return sum
}

func TestWhatIsInterpretedHasNoImage(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache", func(o *Options) { o.Interpreted = true })
	code := acquire(t, f, small(7))
	defer code.Release()
	if code.held.laid != nil || code.held.entry.Image != nil || machineCode(code.Module()) != nil {
		t.Errorf("it has %+v", code.held.entry.Image)
	}
	code.Trim(false)
	answers(t, f, code, 7)
}

// TestTheMachineCodeIsFoundWhereWazeroKeepsIt fails if another version of wazero stores its
// machine code differently.
func TestTheMachineCodeIsFoundWhereWazeroKeepsIt(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache")
	module := broad(100 << 10)
	code := acquire(t, f, module)
	defer code.Release()
	_, path := stored(t, f, module)
	kept, err := os.ReadFile(path)
	check(t, err)
	found := machineCode(code.Module())
	if len(found) < len(kept)/2 || !bytes.Contains(kept, found) {
		t.Errorf("%d bytes of machine code are found; the file has %d, those among them: %t", len(found), len(kept), bytes.Contains(kept, found))
	}
}

func TestAModuleWithoutFunctionsHasNoImage(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache")
	code := acquire(t, f, []byte("\x00asm\x01\x00\x00\x00"))
	defer code.Release()
	if code.held.laid != nil {
		t.Error("something is laid over it")
	}
	code.Trim(false)
}

// TestAnEntryWithoutAnImageIsUsed checks that entries of agents that made no images can still
// be used.
func TestAnEntryWithoutAnImageIsUsed(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache")
	acquire(t, f, small(7)).Release()
	dir, _ := stored(t, f, small(7))
	index, err := os.Open(filepath.Join(dir, indexName))
	check(t, err)
	defer index.Close()
	e, err := readEntry(index)
	check(t, err)
	e.Image = nil
	check(t, os.Remove(filepath.Join(dir, indexName)))
	check(t, writeEntry(dir, &e, testTime))
	code := acquire(t, f, small(7))
	defer code.Release()
	code.Trim(false)
	answers(t, f, code, 7)
	if f.children(t) != 1 || code.held.laid != nil {
		t.Errorf("%d children, laid %t", f.children(t), code.held.laid != nil)
	}
}

func TestAFieldThatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	if got := machineCode(struct{ wazero.CompiledModule }{}); got != nil {
		t.Errorf("%d bytes", len(got))
	}
	if got := machineCode(nil); got != nil {
		t.Errorf("%d bytes", len(got))
	}
}
