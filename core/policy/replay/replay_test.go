package replay

import (
	"io"
	"io/fs"
	"log/slog"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// receding are the files of an agent without policy files. Once a policy file is looked for,
// the segments of records are missing, unless stay is set.
type receding struct {
	fs.FS

	gone, stay bool
}

func (r *receding) Open(name string) (fs.File, error) {
	if path.Base(path.Dir(name)) == "policies" {
		r.gone = !r.stay
	}
	if r.gone && strings.HasSuffix(name, ".log") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return r.FS.Open(name)
}

func TestARecordThatMakesRoomMeanwhileIsNeitherReplayedNorLost(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "state")
	d, err := state.Open(dir, slog.New(slog.DiscardHandler))
	must(err)
	log, err := d.Decisions(map[string]int64{"": 1 << 20})
	must(err)
	digest := strings.Repeat("a", 64)
	r := &decisions.Record{Decision: api.Decision{Hook: "admit", Name: "web", Verdict: api.Verdict{
		Answer: api.Allow, Sets: []string{"s"}, Opinions: []api.Opinion{{Policy: "p", Answer: api.Allow}},
	}}, Policies: []decisions.PolicyRecord{{Name: "p", Document: digest, Module: digest}}}
	must(log.Append("", []decisions.Entry{{Record: r}})[0])
	must(log.Close())
	must(d.Close())
	for name, do := range map[string]func(files fs.FS, each func(*Replayed)) ([]error, error){
		"replay": func(files fs.FS, each func(*Replayed)) ([]error, error) {
			return Decisions(t.Context(), config.Default(), files, Options{}, each)
		},
		"export": func(files fs.FS, each func(*Replayed)) ([]error, error) {
			return ExportDecisions(t.Context(), config.Default(), files, io.Discard, ExportOptions{}, each)
		},
		"redacted": func(files fs.FS, each func(*Replayed)) ([]error, error) {
			return ExportDecisions(t.Context(), config.Default(), files, io.Discard, ExportOptions{Redact: true}, each)
		},
	} {
		for _, stay := range []bool{true, false} {
			var came []*Replayed
			damaged, err := do(&receding{FS: StateFiles(dir), stay: stay}, func(x *Replayed) { came = append(came, x) })
			if err != nil || len(damaged) > 0 {
				t.Errorf("%s: %v, damaged %v", name, err, damaged)
			}
			if lost := len(came) == 1 && came[0].Outcome == ReplayLost; lost != stay || len(came) > 0 && !stay {
				t.Errorf("%s: the segment stays %t: %+v", name, stay, came)
			}
		}
	}
}
