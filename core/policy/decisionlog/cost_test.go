package decisionlog

import (
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/state/decisions"
)

func TestARecordIsAsLongAsItIsCharged(t *testing.T) {
	t.Parallel()
	about := func(name, text string) *Recording { return recorded(name, "a", text, func() {}) }
	for name, records := range map[string][]*Recording{
		"little is said":              {about("web", "no")},
		"much is said":                {about("web", strings.Repeat("a word ", 4000))},
		"what is written out is said": {about("web", strings.Repeat("<\x01\"", 4000))},
		"of several pods":             {about("web", "no"), about("db", "no"), about("cache", "no")},
		"of one pod, again and again": {about("web", "no"), about("web", "never"), about("web", "not now")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "state")
			log, closeAll := policytest.RecordsIn(t, dir)
			c := Options{Node: "node-1"}
			paid := NewPaidRecords(log, sched.NewBudgets(map[string]int64{"a": 1 << 40}, policytest.Instant), func() time.Time { return policytest.Instant })
			for _, x := range records {
				policytest.Must(t, x.prepare(&c))
				policytest.Must(t, paid.Append("a", []decisions.Entry{x.entry})[0])
			}
			charged := (sched.MostOf(1<<40) - paid.budgets.LeftOf("a")) / sched.RecordByteFuel
			closeAll()
			if is := onDisk(t, dir); charged < is*9/10 || charged > is {
				t.Errorf("charged for %d bytes, there are %d", charged, is)
			}
		})
	}
}

func TestWhatIsKnownToBePaidDoesNotGrowForever(t *testing.T) {
	t.Parallel()
	paid := NewPaidRecords(&policytest.RecordDisk{}, sched.NewBudgets(map[string]int64{"a": 1}, policytest.Instant), func() time.Time { return policytest.Instant })
	for i := range 3 * maxPaidDocuments {
		entry := decisions.Entry{Record: &decisions.Record{}, Inputs: map[string][]byte{strconv.Itoa(i): {}}}
		policytest.Must(t, paid.Append("a", []decisions.Entry{entry})[0])
		if n := len(paid.paid["a"]); n > maxPaidDocuments {
			t.Fatalf("%d documents are known", n)
		}
	}
}

// onDisk returns the size in bytes of the records below a directory.
func onDisk(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	policytest.Must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".log") {
			return err
		}
		info, err := d.Info()
		bytes += info.Size()
		return err
	}))
	return bytes
}
