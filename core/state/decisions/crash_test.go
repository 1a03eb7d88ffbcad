package decisions

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/state/durable"
	"github.com/wardlet/wardlet/core/state/durable/durabletest"
)

// onDisk returns a log of decisions on a model of a disk.
func onDisk(t *testing.T, model *durabletest.Disk, path string, limit int64) *Log {
	t.Helper()
	for _, dir := range []string{filepath.Join(path, DirName), filepath.Join(path, DirName, filesDir)} {
		check(t, durable.OwnDir(dir))
	}
	cfg := Config{Dir: filepath.Join(path, DirName), Limits: map[string]int64{"": limit, "a": limit}, FS: model, Logger: slog.New(slog.DiscardHandler)}
	return &Log{cfg: &cfg, owners: map[string]*ownerLog{}, files: newPolicyFiles()}
}

// recording appends many records in batches. It returns the names of the records that were
// confirmed, and the names of all records.
func recording(l *Log) (kept, all []string) {
	for batch := range 6 {
		tenant := []string{"", "a"}[batch%2]
		var entries []Entry
		for i := range 3 {
			name := fmt.Sprintf("pod-%d-%d", batch, i)
			entries = append(entries, entry(name, "the document of "+name))
			all = append(all, name)
		}
		for i, err := range l.Append(tenant, entries) {
			if err == nil {
				kept = append(kept, entries[i].Record.Name)
			}
		}
	}
	return kept, all
}

// TestAfterACrashAtAnyStepWhatWasAnsweredIsOnRecord crashes at each step, or makes one step
// fail, and then cuts the power.
func TestAfterACrashAtAnyStepWhatWasAnsweredIsOnRecord(t *testing.T) {
	t.Parallel()
	const limit = 8 << 10 // a segment is full after about two records
	quiet := &durabletest.Disk{Cached: map[string]*durabletest.File{}, Stored: map[string]*durabletest.File{}}
	recording(onDisk(t, quiet, statePath(t), limit))
	steps := quiet.Step
	if steps < 25 {
		t.Fatalf("only %d steps: %v", steps, quiet.Done)
	}
	for _, kind := range []string{"crash", "fail"} {
		for step := 1; step <= steps+1; step++ {
			t.Run(fmt.Sprintf("%s at %d", kind, step), func(t *testing.T) {
				t.Parallel()
				model := &durabletest.Disk{Cached: map[string]*durabletest.File{}, Stored: map[string]*durabletest.File{}}
				if kind == "crash" {
					model.CrashAt = step
				} else {
					model.FailAt = step
				}
				path := statePath(t)
				kept, all := recording(onDisk(t, model, path, 64*limit))
				if kind == "fail" && len(kept) < len(all)-3 {
					t.Errorf("one step failed, and only %d of %d records are kept", len(kept), len(all))
				}
				for _, after := range []map[string]*durabletest.File{model.Cached, model.Stored} {
					for _, synced := range []bool{false, true} {
						readBack(t, path, after, synced, kept, all)
					}
				}
			})
		}
	}
}

// readBack creates the files as a power cut may have left them, and reads them.
func readBack(t *testing.T, path string, entries map[string]*durabletest.File, synced bool, kept, all []string) {
	t.Helper()
	for _, owner := range []string{"operator", "tenant-a"} {
		dir := filepath.Join(path, DirName, owner)
		check(t, os.RemoveAll(dir))
		check(t, os.Mkdir(dir, 0o700))
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		f := entries[name]
		content := f.Cached
		if synced {
			content = f.Stored
		}
		check(t, os.WriteFile(name, []byte(content), 0o600))
	}
	l, err := openLog(path, map[string]int64{"": mib, "a": mib}, io.Discard)
	check(t, err)
	var names []string
	for _, text := range on(t, l) {
		name, _, _ := strings.Cut(strings.Fields(text)[1], "×")
		names = append(names, name)
		if !slices.Contains(all, name) {
			t.Errorf("%s is on record, which nobody decided", name)
		}
	}
	for _, name := range kept {
		if !slices.Contains(names, name) {
			t.Errorf("%s was said to be on record, and is not (synced content: %t)", name, synced)
		}
	}
	for _, dir := range []string{"", "a"} {
		appended(t, l, dir, entry("later", "pod"))
	}
	if _, faults := told(FilesOf(path)); slices.ContainsFunc(faults, func(fault string) bool { return strings.Contains(fault, "missing") }) {
		t.Errorf("what was not answered is missing: %q", faults)
	}
	if again := on(t, l); len(again) != len(names)+2 {
		t.Errorf("%d records, and with two more %d", len(names), len(again))
	}
	check(t, l.Close())
}

func TestADiskThatTakesNothingForAWhileCostsOnlyTheRecordsOfThatTime(t *testing.T) {
	t.Parallel()
	model := &durabletest.Disk{Cached: map[string]*durabletest.File{}, Stored: map[string]*durabletest.File{}}
	l := onDisk(t, model, statePath(t), mib)
	appended(t, l, "", entry("before", "pod"))
	model.CrashAt = model.Step + 1
	for _, err := range l.Append("", []Entry{entry("lost", "pod"), entry("lost too", "pod")}) {
		if !errors.Is(err, durabletest.ErrStep) || !strings.Contains(err.Error(), "operator") {
			t.Errorf("error %v", err)
		}
	}
	model.CrashAt = 0
	later := []Entry{entry("after", "pod")}
	check(t, l.Append("", later)[0])
	if later[0].Record.ID == "" {
		t.Error("it has no ID")
	}
}
