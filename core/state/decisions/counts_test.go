package decisions

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/state/durable/durabletest"
)

// counted opens the log of decisions in a directory, records how often the first decision of
// the operator was repeated, and closes the log again.
func counted(t *testing.T, path string, count int) {
	t.Helper()
	l, err := openLog(path, map[string]int64{"": 1 << 20}, io.Discard)
	check(t, err)
	check(t, l.Counted("", []Count{{ID: "operator-1", Count: count, Last: time.Now()}}))
	check(t, l.Close())
}

func TestCountsAreKeptWhateverACrashHasLeftOfTheLastLine(t *testing.T) {
	t.Parallel()
	whole := entry("third", "text")
	next := (&line{kind: lineRecord, body: []byte(`{"id":"operator-3","name":"` + whole.Record.Name + `"}`)}).append(nil)
	for name, torn := range map[string][]byte{
		"nothing": nil, "half of it": next[:len(next)/2], "all but its end": next[:len(next)-1], "zeros": make([]byte, 100), "a damaged one": append([]byte("x"), next...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := statePath(t)
			limits := map[string]int64{"": 1 << 20}
			l, done := decisions(t, path, limits)
			appended(t, l, "", entry("web", "text"), entry("db", "text"))
			done()
			file := filepath.Join(path, DirName, "operator", segmentName(1))
			text, err := os.ReadFile(file)
			check(t, err)
			check(t, os.WriteFile(file, append(text, torn...), 0o600))
			counted(t, path, 500)
			counted(t, path, 501)
			l, err = openLog(path, limits, io.Discard)
			check(t, err)
			appended(t, l, "", entry("new", "text"))
			same(t, "records", []string{"operator-1 web×501", "operator-2 db×1", "operator-3 new×1"}, inOrder(on(t, l)))
			check(t, l.Close())
			if info, err := os.Stat(file); err != nil || info.Size() < int64(len(text)+len(torn)) {
				t.Errorf("what the crash left is gone: %v", err)
			}
			_, faults := told(FilesOf(path))
			// A line that a crash cut off was never confirmed. It is not damage once an agent
			// has marked it.
			if damaged := name == "a damaged one"; damaged != (len(faults) == 1) || len(faults) > 1 {
				t.Errorf("faults %q", faults)
			}
		})
	}
}

// inOrder sorts the names of records by their numbers.
func inOrder(names []string) []string { slices.Sort(names); return names }

func TestCountsThatCannotBeWrittenAreRefused(t *testing.T) {
	t.Parallel()
	model := &durabletest.Disk{Cached: map[string]*durabletest.File{}, Stored: map[string]*durabletest.File{}}
	l := onDisk(t, model, statePath(t), mib)
	counts := []Count{{ID: "operator-1", Count: 2}}
	check(t, l.Counted("", counts)) // there is no such record yet
	appended(t, l, "", entry("web", "text"))
	check(t, l.Counted("", nil))
	check(t, l.Counted("", counts))
	model.FailAt = model.Step + 1
	wantError(t, l.Counted("", counts), durabletest.ErrStep.Error())
	wantError(t, l.Counted("", counts), "no segment")
	appended(t, l, "", entry("db", "text"))
	check(t, l.Counted("", counts))
}
