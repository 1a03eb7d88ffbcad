package decisions

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wardlet/wardlet/core/state/durable"
)

// growing is a file system in which one file has the next of texts each time it is opened.
type growing struct {
	fstest.MapFS

	name  string
	texts []string
}

func (g *growing) Open(name string) (fs.File, error) {
	if name == g.name && len(g.texts) > 0 {
		g.MapFS[name].Data, g.texts = []byte(g.texts[0]), g.texts[1:]
	}
	return g.MapFS.Open(name)
}

func TestALineThatIsBeingWrittenIsNoDamage(t *testing.T) {
	t.Parallel()
	const newest = "decisions/operator/0000000000000001.log"
	whole := string(aFewRecords(t)[newest].Data)
	lines := strings.SplitAfter(whole, "\n")
	first := strings.Join(lines[:3], "") // a document, a file, a record
	for name, c := range map[string]struct {
		texts  []string
		faults int
		read   int
	}{
		"it is whole when it is read again":                 {[]string{whole[:len(first)+20], whole}, 0, 4},
		"the next one is being written then":                {[]string{whole[:len(first)+20], whole[:len(whole)-10]}, 0, 4},
		"it was all that is there":                          {[]string{whole[:20], whole}, 0, 4},
		"it is never whole":                                 {[]string{whole[:len(first)+20]}, 1, 2},
		"a damaged line before it is damaged when it ended": {[]string{"x" + whole[:len(first)+20], "x" + whole}, 1, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, faults := told(&growing{aFewRecords(t), newest, c.texts})
			if name == "a damaged line before it is damaged when it ended" {
				faults = faults[len(faults)-1:] // the missing document of a record is another fault
			}
			if len(faults) != c.faults || len(read) != c.read {
				t.Errorf("%q, faults %q", read, faults)
			}
		})
	}
}

func TestALineWithoutAnEndOfASegmentThatIsNotTheNewestIsDamage(t *testing.T) {
	t.Parallel()
	files := aFewRecords(t)
	files["decisions/operator/0000000000000004.log"] = &fstest.MapFile{Mode: 0o600}
	const older = "decisions/operator/0000000000000001.log"
	whole := string(files[older].Data)
	if _, faults := told(&growing{files, older, []string{whole[:len(whole)-5], whole}}); len(faults) != 1 || !strings.Contains(faults[0], "has no end") {
		t.Errorf("faults %q", faults)
	}
}

func TestARecordThatMakesRoomWhileItIsReadIsNotLost(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	l, closeAll := decisions(t, path, map[string]int64{"": 1 << 20})
	defer closeAll()
	check(t, l.KeepFiles("", files("old")))
	appended(t, l, "", entry("web", "first", "old"), entry("db", "second", "old"))
	for i := range liveSets {
		check(t, l.KeepFiles("", files(fmt.Sprint("new ", i))))
	}
	var saw []error
	damaged, err := NewArchive(FilesOf(path)).Each(func(r *Record, e *Exhibits) error {
		for i := 0; len(saw) == 0 && i < 40; i++ {
			appended(t, l, "", entry(fmt.Sprint("p", i), strings.Repeat("b", 60<<10)+strconv.Itoa(i)))
		}
		_, err := e.PolicyFile(r.Policies[0].Module)
		saw = append(saw, err)
		return err
	})
	if len(saw) != 1 || !errors.Is(saw[0], ErrMadeRoom) || err != nil || len(damaged) > 0 {
		t.Errorf("%v, damaged %v, %v", saw, damaged, err)
	}
}

func TestAFileOfAPolicyThatIsGoneWithoutItsRecordIsLost(t *testing.T) {
	t.Parallel()
	from := aFewRecords(t)
	delete(from, "decisions/policies/"+digestOf([]byte("module two"))+fileSuffix)
	_, faults := told(from)
	if len(faults) != 1 || !strings.Contains(faults[0], filesDir+"/"+digestOf([]byte("module two"))) {
		t.Errorf("faults %q", faults)
	}
}

func TestWhatCannotBeReadHidesNothingElse(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(fstest.MapFS){
		"a segment that is too long": func(files fstest.MapFS) {
			files["decisions/operator/0000000000000001.log"].Data = make([]byte, durable.MaxSize+1)
		},
		"a segment that is no file": func(files fstest.MapFS) {
			files["decisions/operator/0000000000000001.log"].Mode = fs.ModeSymlink
		},
		"an owner whose directory is a file": func(files fstest.MapFS) {
			files["decisions/operator"] = files["decisions/operator/0000000000000001.log"]
			delete(files, "decisions/operator/0000000000000001.log")
		},
	} {
		from := aFewRecords(t)
		harm(from)
		read, faults := told(from)
		same(t, name, []string{`tenant-a-1 cache "third" ["module one" "module two"]`}, read)
		if len(faults) != 1 || !strings.Contains(faults[0], "decisions/operator") {
			t.Errorf("%s: faults %q", name, faults)
		}
	}
}
