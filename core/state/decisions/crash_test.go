package state

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func (d *disk) appendTo(path string) (file, error) {
	d.mu.Lock()
	f := d.cached[path]
	d.mu.Unlock()
	if f == nil {
		f = &inode{disk: d, path: path}
	}
	return f, d.do("open", func() { d.cached[path] = f })
}

func (k *killing) appendTo(path string) (f file, err error) {
	err = k.do(func() (err error) { f, err = kernel{}.appendTo(path); return err }, nothing)
	return &dying{k, f}, err
}

// onDisk is a log of decisions whose files are on a model of a disk.
func onDisk(t *testing.T, model *disk, path string, limit int64) *DecisionLog {
	t.Helper()
	root := &Dir{path: path, log: slog.New(slog.DiscardHandler), fs: model}
	for _, dir := range []string{path, filepath.Join(path, decisionsDir), filepath.Join(path, decisionsDir, filesDir), filepath.Join(path, quarantineDir)} {
		check(t, ownDir(dir))
	}
	return &DecisionLog{
		dir: root, limits: map[string]int64{"": limit, "a": limit}, owners: map[string]*ownerLog{},
		files: newPolicyFiles(),
	}
}

// recording appends many records in batches, and returns the names of those that
// are said to be on the disk, and of all.
func recording(l *DecisionLog) (kept, all []string) {
	for batch := range 6 {
		tenant := []string{"", "a"}[batch%2]
		var entries []DecisionEntry
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

// TestAfterACrashAtAnyStepWhatWasAnsweredIsOnRecord lets everything stop at each
// step, or one step fail, and then the power be cut.
func TestAfterACrashAtAnyStepWhatWasAnsweredIsOnRecord(t *testing.T) {
	t.Parallel()
	const limit = 8 << 10 // segments are full after two records or so
	quiet := &disk{cached: map[string]*inode{}, stored: map[string]*inode{}}
	recording(onDisk(t, quiet, statePathOf(t), limit))
	steps := quiet.step
	if steps < 25 {
		t.Fatalf("only %d steps: %v", steps, quiet.done)
	}
	for _, kind := range []string{"crash", "fail"} {
		for step := 1; step <= steps+1; step++ {
			t.Run(fmt.Sprintf("%s at %d", kind, step), func(t *testing.T) {
				t.Parallel()
				model := &disk{cached: map[string]*inode{}, stored: map[string]*inode{}}
				if kind == "crash" {
					model.crashAt = step
				} else {
					model.failAt = step
				}
				path := statePathOf(t)
				kept, all := recording(onDisk(t, model, path, 64*limit))
				if kind == "fail" && len(kept) < len(all)-3 {
					t.Errorf("one step failed, and only %d of %d records are kept", len(kept), len(all))
				}
				for _, after := range []map[string]*inode{model.cached, model.stored} {
					for _, synced := range []bool{false, true} {
						readBack(t, path, after, synced, kept, all)
					}
				}
			})
		}
	}
}

func statePathOf(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "state")
}

// readBack makes the files as a power cut may have left them, and reads them.
func readBack(t *testing.T, path string, entries map[string]*inode, synced bool, kept, all []string) {
	t.Helper()
	for _, owner := range []string{"operator", "tenant-a"} {
		dir := filepath.Join(path, decisionsDir, owner)
		check(t, os.RemoveAll(dir))
		check(t, os.Mkdir(dir, 0o700))
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		f := entries[name]
		content := f.cached
		if synced {
			content = f.stored
		}
		check(t, os.WriteFile(name, []byte(content), 0o600))
	}
	root := &Dir{path: path, log: slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil)), fs: kernel{}}
	l, err := root.Decisions(map[string]int64{"": mib, "a": mib})
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
	model := &disk{cached: map[string]*inode{}, stored: map[string]*inode{}}
	l := onDisk(t, model, statePathOf(t), mib)
	appended(t, l, "", entry("before", "pod"))
	model.crashAt = model.step + 1
	for _, err := range l.Append("", []DecisionEntry{entry("lost", "pod"), entry("lost too", "pod")}) {
		if !errors.Is(err, errStep) || !strings.Contains(err.Error(), "operator") {
			t.Errorf("error %v", err)
		}
	}
	model.crashAt = 0
	later := []DecisionEntry{entry("after", "pod")}
	check(t, l.Append("", later)[0])
	if later[0].Record.ID == "" {
		t.Error("it has no ID")
	}
}
