package decisions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/state/durable"
	"github.com/wardlet/wardlet/core/state/durable/durabletest"
)

// openLog opens the log below a state directory. A corrupt file is moved to the directory
// quarantine below it.
func openLog(path string, limits map[string]int64, log io.Writer) (*Log, error) {
	return Open(Config{
		Dir: filepath.Join(path, DirName), Limits: limits, FS: durable.OS{}, Logger: slog.New(slog.NewTextHandler(log, nil)),
		Quarantine: func(name string, _ error) error {
			aside := filepath.Join(path, "quarantine")
			return errors.Join(durable.OwnDir(aside), os.Rename(filepath.Join(path, DirName, name), filepath.Join(aside, filepath.Base(name))))
		},
	})
}

// decisions opens the log below a state directory. The caller closes it with closeAll.
func decisions(t *testing.T, path string, limits map[string]int64) (l *Log, closeAll func()) {
	t.Helper()
	var log bytes.Buffer
	l, err := openLog(path, limits, &log)
	check(t, err)
	if log.Len() > 0 {
		t.Errorf("log:\n%s", &log)
	}
	return l, func() {
		t.Helper()
		check(t, l.Close())
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("got error %v, want one with %q", err, part)
	}
}

func statePath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "state")
}

// entry returns a decision about a pod whose document is text.
func entry(name, text string, files ...string) Entry {
	input := fmt.Appendf(nil, "%q", text)
	r := &Record{Decision: api.Decision{
		Count: 1, Hook: "admit", Namespace: "shop", Name: name, Verdict: api.Verdict{Answer: api.Deny, Message: "no & <never>"},
		First: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Last: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
	}, Pod: digestOf(input)}
	for _, f := range files {
		r.Policies = append(r.Policies, PolicyRecord{Name: "p", Module: digestOf([]byte(f))})
	}
	return Entry{Record: r, Inputs: map[string][]byte{r.Pod: input}}
}

// appended appends entries and fails the test unless all are on the disk.
func appended(t *testing.T, l *Log, tenant string, entries ...Entry) {
	t.Helper()
	check(t, errors.Join(l.Append(tenant, entries)...))
}

// on returns the ID, the pod's name and the count of each record. It checks that all documents
// and policy files of the records exist.
func on(t *testing.T, l *Log) (names []string) {
	t.Helper()
	all, err := l.Newest(1000)
	check(t, err)
	for i := range all {
		r := &all[i]
		names = append(names, fmt.Sprintf("%s %s×%d", r.ID, r.Name, r.Count))
		tenant, _ := ownerCalled(r.ID[:strings.LastIndexByte(r.ID, '-')])
		if data, err := l.Input(tenant, r.Pod); err != nil || digestOf(data) != r.Pod {
			t.Errorf("%s names a document that is not there: %v", r.ID, err)
		}
		for _, p := range r.Policies {
			if data, err := l.PolicyFile(p.Module); err != nil || digestOf(data) != p.Module {
				t.Errorf("%s names a file of a policy that is not there: %v", r.ID, err)
			}
		}
	}
	return names
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

const mib = 1 << 20

func TestDecisionsAreThereAfterARestart(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	limits := map[string]int64{"": mib, "a": mib}
	l, done := decisions(t, path, limits)
	check(t, l.KeepFiles("", files("module")))
	one := entry("web", "pod", "module")
	appended(t, l, "", one, entry("db", "other"))
	appended(t, l, "a", entry("tenants", "pod"))
	check(t, l.Counted("", []Count{{ID: "operator-1", Count: 3, Last: one.Record.Last}, {ID: "operator-9", Count: 3}}))
	want := []string{"operator-1 web×3", "operator-2 db×1", "tenant-a-1 tenants×1"}
	same(t, "records", want, on(t, l))
	done()

	l, done = decisions(t, path, limits)
	same(t, "records after a restart", want, on(t, l))
	all, err := l.Newest(1000)
	check(t, err)
	one.Record.Count = 3
	same(t, "the first", *one.Record, all[0])
	appended(t, l, "", entry("new", "pod"))
	same(t, "records with one more", append(want[:2:2], "operator-3 new×1", "tenant-a-1 tenants×1"), on(t, l))
	few, err := l.Newest(1)
	check(t, err)
	if len(few) != 2 || few[0].Name != "new" {
		t.Errorf("the newest of each owner are %v", few)
	}
	done()
}

func files(contents ...string) map[string][]byte {
	m := map[string][]byte{}
	for _, c := range contents {
		m[digestOf([]byte(c))] = []byte(c)
	}
	return m
}

func TestOnlyTheOwnerCanReadDecisions(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	l, done := decisions(t, path, map[string]int64{"": mib})
	check(t, l.KeepFiles("", files("module")))
	appended(t, l, "", entry("web", "pod", "module"))
	done()
	n := 0
	check(t, filepath.Walk(filepath.Join(path, DirName), func(p string, info os.FileInfo, err error) error {
		check(t, err)
		n++
		if want := os.FileMode(0o600); !info.IsDir() && info.Mode() != want || info.IsDir() && info.Mode().Perm() != 0o700 {
			t.Errorf("%s has the mode %v", p, info.Mode())
		}
		return nil
	}))
	if n != 5 {
		t.Errorf("%d files and directories, want 5", n)
	}
}

func TestADocumentIsKeptOnceForManyRecords(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	l, done := decisions(t, path, map[string]int64{"": mib})
	text := strings.Repeat("large document ", 100)
	for i := range 20 {
		appended(t, l, "", entry(fmt.Sprintf("web-%d", i), text))
	}
	count := func() int {
		data, err := os.ReadFile(filepath.Join(path, DirName, "operator", "0000000000000001.log"))
		check(t, err)
		return bytes.Count(data, []byte(text))
	}
	if n := count(); n != 1 {
		t.Errorf("the document is kept %d times", n)
	}
	done()
	l, done = decisions(t, path, map[string]int64{"": mib})
	appended(t, l, "", entry("again", text))
	if n := count(); n != 1 || len(on(t, l)) != 21 {
		t.Errorf("after a restart the document is kept %d times", n)
	}
	done()
}

func TestAnOwnerHasNoMoreThanItsShareAndEvictsOnlyItsOwn(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	const limit = 64 << 10
	limits := map[string]int64{"": limit, "a": limit, "b": limit}
	l, done := decisions(t, path, limits)
	size := func(owner string) (n int64) {
		entries, err := os.ReadDir(filepath.Join(path, DirName, owner))
		check(t, err)
		for _, e := range entries {
			info, err := e.Info()
			check(t, err)
			n += info.Size()
		}
		return n
	}
	appended(t, l, "b", entry("quiet", "pod"))
	appended(t, l, "", entry("quiet", "pod"))
	for i := range 500 {
		appended(t, l, "a", entry(strconv.Itoa(i), strings.Repeat("x", 500)+strconv.Itoa(i)))
		if n := size("tenant-a"); n > limit {
			t.Fatalf("%d bytes after %d records", n, i+1)
		}
	}
	if n := size("tenant-a"); n < limit*3/4 {
		t.Errorf("only %d bytes of %d are used", n, limit)
	}
	names := on(t, l)
	if names[len(names)-2] != "tenant-a-500 499×1" {
		t.Errorf("the newest is not there: %v", names[len(names)-3:])
	}
	others := 0
	for _, name := range names {
		if strings.Contains(name, "quiet") {
			others++
		}
	}
	if others != 2 || len(names) < 50 {
		t.Errorf("%d records, %d of others", len(names), others)
	}
	done()
	limits["a"] = limit / 2
	l, done = decisions(t, path, limits)
	if n := size("tenant-a"); n > limit/2 {
		t.Errorf("%d bytes after the share was made smaller", n)
	}
	on(t, l)
	done()
}

func TestARecordLargerThanAQuarterOfTheShareIsNotKept(t *testing.T) {
	t.Parallel()
	l, done := decisions(t, statePath(t), map[string]int64{"": 64 << 10})
	errs := l.Append("", []Entry{entry("a", "pod"), entry("huge", strings.Repeat("x", 16<<10)), entry("b", "pod")})
	if errs[0] != nil || !errors.Is(errs[1], ErrTooLarge) || errs[2] != nil {
		t.Errorf("errors %v", errs)
	}
	same(t, "records", []string{"operator-1 a×1", "operator-2 b×1"}, on(t, l))
	wantError(t, l.Append("nobody", []Entry{entry("a", "pod")})[0], "no saved decisions")
	done()
}

func TestFilesOfPoliciesStayWhileARecordNamesThem(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	limits := map[string]int64{"": 64 << 10, "a": 64 << 10}
	l, done := decisions(t, path, limits)
	there := func(content string) bool { _, err := l.PolicyFile(digestOf([]byte(content))); return err == nil }
	check(t, l.KeepFiles("", files("named", "unnamed", "both")))
	appended(t, l, "a", entry("web", "pod", "named"))
	for i := range liveSets {
		check(t, l.KeepFiles("", files("both", fmt.Sprint("set ", i))))
	}
	if !there("named") || there("unnamed") || !there("both") || !there("set 0") {
		t.Errorf("named %t, unnamed %t, both %t, set 0 %t", there("named"), there("unnamed"), there("both"), there("set 0"))
	}
	done()

	l, done = decisions(t, path, limits)
	on(t, l)
	check(t, l.KeepFiles("", files("both")))
	if !there("named") || there("set 0") || !there("both") {
		t.Errorf("after a restart: named %t, set 0 %t, both %t", there("named"), there("set 0"), there("both"))
	}
	for i := range 500 {
		appended(t, l, "a", entry(strconv.Itoa(i), strings.Repeat("x", 500)+strconv.Itoa(i)))
	}
	if there("named") || !there("both") {
		t.Errorf("when its record is gone: named %t, both %t", there("named"), there("both"))
	}
	done()
}

func TestPoliciesThatChangeWithoutEndTakeNoMoreThanTheirOwnersShare(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	const limit = 256 << 10
	l, done := decisions(t, path, map[string]int64{"": limit, "a": limit})
	random := func(i int) string {
		var b strings.Builder // gzip cannot compress it
		for j := range 512 {
			b.WriteString(digestOf(fmt.Append(nil, i, j)))
		}
		return b.String()
	}
	for i := range 100 {
		module := random(i)
		check(t, l.KeepFiles("", files(module)))
		appended(t, l, "a", entry(fmt.Sprint("tenants", i), "pod", module))
		appended(t, l, "", entry(fmt.Sprint("operators", i), "pod", module))
	}
	var n int64
	entries, err := os.ReadDir(filepath.Join(path, DirName, filesDir))
	check(t, err)
	for _, e := range entries {
		info, err := e.Info()
		check(t, err)
		n += info.Size()
	}
	if live := int64(liveSets * 512 * 64); n > limit+live {
		t.Errorf("%d bytes of policies are kept", n)
	}
	if names := on(t, l); len(names) < 2 || !strings.Contains(names[len(names)-1], "99×1") {
		t.Errorf("the newest is not there: %v", names)
	}
	done()
}

func TestWhatIsHarmedInTheLogIsPassedOver(t *testing.T) {
	t.Parallel()
	for name, harm := range durabletest.Harms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := statePath(t)
			limits := map[string]int64{"": mib}
			l, done := decisions(t, path, limits)
			appended(t, l, "", entry("a", "pod"), entry("b", "pod"), entry("c", "pod"))
			done()
			file := filepath.Join(path, DirName, "operator", "0000000000000001.log")
			data, err := os.ReadFile(file)
			check(t, err)
			for at := 0; at < len(data); at += 7 {
				check(t, os.RemoveAll(filepath.Dir(file)))
				check(t, os.Mkdir(filepath.Dir(file), 0o700))
				check(t, os.WriteFile(file, harm(data, at), 0o600))
				l, err := openLog(path, limits, io.Discard)
				check(t, err)
				all, err := l.Newest(10)
				check(t, err)
				appended(t, l, "", entry("new", "pod"))
				after, err := l.Newest(10)
				check(t, err)
				if len(after) != len(all)+1 || after[len(all)].Name != "new" && after[0].Name != "new" {
					t.Fatalf("byte %d: %d records, then %d", at, len(all), len(after))
				}
				if at > len(data)*2/3 && len(all) < 1 {
					t.Errorf("byte %d: nothing is read", at)
				}
				check(t, l.Close())
			}
		})
	}
}

func FuzzCutLine(f *testing.F) {
	r := entry("web", "pod")
	body, err := json.Marshal(r.Record)
	if err != nil {
		f.Fatal(err)
	}
	o := &ownerLog{active: &segment{}}
	text, _ := o.lines(&r, body)
	f.Add(text)
	f.Add([]byte("00000000 r {}\n"))
	f.Add([]byte("\n\n1234"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for len(text) > 0 {
			one, rest, err := cutLine(text)
			if len(rest) >= len(text) {
				t.Fatal("nothing was cut")
			}
			if err == nil {
				again := one.append(nil)
				if got, more, err := cutLine(again); err != nil || len(more) > 0 || got.kind != one.kind || got.digest != one.digest || !bytes.Equal(got.body, one.body) {
					t.Fatalf("%+v was written as %q and read as %+v, %v", one, again, got, err)
				}
			}
			text = rest
		}
	})
}
