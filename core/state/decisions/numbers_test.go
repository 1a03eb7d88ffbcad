package decisions

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wardlet/wardlet/core/state/durable"
	"github.com/wardlet/wardlet/core/state/durable/durabletest"
)

const ownLog = "decisions/operator/"

// numbered returns nine records of the operator, three in each segment.
func numbered(t *testing.T) fstest.MapFS {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	for range 3 {
		l, closeAll := decisions(t, dir, map[string]int64{"": 1 << 20})
		o := l.owner("")
		o.appending.Lock()
		check(t, o.close()) // the next record begins a new segment
		o.appending.Unlock()
		for i := range 3 {
			appended(t, l, "", entry(fmt.Sprint("p", i), "pod"))
		}
		closeAll()
	}
	return archived(t, dir)
}

func TestRecordsThatAreMissingBetweenOthersAreNoticed(t *testing.T) {
	t.Parallel()
	segment := func(first int) string { return ownLog + segmentName(uint64(first)) }
	drop := func(f fstest.MapFS, ids ...string) {
		for name, file := range f {
			if path.Ext(name) == segmentSuffix {
				for _, id := range ids {
					file.Data = without(file.Data, id)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		harm func(fstest.MapFS)
		want []string
	}{
		"nothing":                            {func(fstest.MapFS) {}, nil},
		"one":                                {func(f fstest.MapFS) { drop(f, "operator-2") }, []string{segment(1) + ": operator-2 is missing"}},
		"several":                            {func(f fstest.MapFS) { drop(f, "operator-5", "operator-6", "operator-7") }, []string{segment(7) + ": operator-5 to operator-7 are missing"}},
		"the first of the oldest segment":    {func(f fstest.MapFS) { drop(f, "operator-1") }, []string{segment(1) + ": operator-1 is missing"}},
		"a segment":                          {func(f fstest.MapFS) { delete(f, segment(4)) }, []string{segment(7) + ": operator-4 to operator-6 are missing"}},
		"the oldest segment, which had gone": {func(f fstest.MapFS) { delete(f, segment(1)) }, nil},
		"the two oldest segments":            {func(f fstest.MapFS) { delete(f, segment(1)); delete(f, segment(4)) }, nil},
		"a line that is damaged is told once": {
			func(f fstest.MapFS) { f[segment(4)].Data[len(f[segment(4)].Data)-2]++ }, []string{segment(4) + ":4: the checksum of a line is not that of its content"},
		},
		"a segment that is damaged is told once": {
			func(f fstest.MapFS) { f[segment(4)].Data = make([]byte, durable.MaxSize+1) }, []string{fmt.Sprintf("%s is no regular file of at most %d bytes", segment(4), durable.MaxSize)},
		},
		"a record of another owner": {
			func(f fstest.MapFS) { f["decisions/tenant-a/"+segmentName(1)] = f[segment(1)] },
			[]string{`decisions/tenant-a/` + segmentName(1) + `: "operator-1" is no ID of a record here`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := numbered(t)
			c.harm(f)
			_, faults := told(f)
			if len(faults) > 1 && name == "a record of another owner" {
				faults = faults[:1]
			}
			same(t, "faults", c.want, faults)
		})
	}
}

func TestASegmentThatMakesRoomWhileOthersAreReadIsNotMissing(t *testing.T) {
	t.Parallel()
	f := numbered(t)
	n := 0
	damaged, err := NewArchive(f).Each(func(*Record, *Exhibits) error {
		n++
		delete(f, ownLog+segmentName(1))
		delete(f, ownLog+segmentName(4))
		return nil
	})
	if err != nil || len(damaged) > 0 || n != 6 {
		t.Errorf("%d records, damaged %v, %v", n, damaged, err)
	}
}

func TestARecordThatWasNotWrittenIsNotMissing(t *testing.T) {
	t.Parallel()
	for kind, harm := range map[string]func(d *durabletest.Disk, step int){
		"one step fails":        func(d *durabletest.Disk, step int) { d.FailAt = step },
		"nothing works so long": func(d *durabletest.Disk, step int) { d.CrashAt = step },
	} {
		for step := 1; step < 12; step++ {
			model := &durabletest.Disk{Cached: map[string]*durabletest.File{}, Stored: map[string]*durabletest.File{}}
			path := statePath(t)
			l := onDisk(t, model, path, mib)
			appended(t, l, "", entry("before", "pod"))
			harm(model, model.Step+step)
			failed := 0
			for i := range 3 {
				for _, err := range l.Append("", []Entry{entry(fmt.Sprint("a", i), "pod"), entry("huge", strings.Repeat("x", mib/4)), entry(fmt.Sprint("b", i), "pod")}) {
					if err != nil {
						failed++
					}
				}
			}
			model.FailAt, model.CrashAt = 0, 0
			appended(t, l, "", entry("after", "pod"))
			for which, inodes := range map[string]map[string]*durabletest.File{"written": model.Cached, "stored": model.Stored} {
				f := fstest.MapFS{}
				for name, i := range inodes {
					relative, err := filepath.Rel(path, name)
					check(t, err)
					text := i.Stored
					if which == "written" {
						text = i.Cached
					}
					f[relative] = &fstest.MapFile{Data: []byte(text), Mode: 0o600}
				}
				read, faults := told(f)
				if i := slices.IndexFunc(faults, func(fault string) bool { return strings.Contains(fault, "missing") }); i >= 0 {
					t.Errorf("%s, step %d, %d failed, %s: %s", kind, step, failed, which, faults[i])
				}
				if len(read) < 2 {
					t.Errorf("%s, step %d, %s: %d records", kind, step, which, len(read))
				}
			}
		}
	}
}
