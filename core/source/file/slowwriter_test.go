package file

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/manifest"
)

// corpus returns the manifests that slow writers write, by file name.
func corpus(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir("testdata/corpus")
	must(t, err)
	all := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join("testdata/corpus", e.Name()))
		must(t, err)
		all[e.Name()] = string(text)
	}
	if len(all) < 10 {
		t.Fatalf("a corpus of %d manifests", len(all))
	}
	return all
}

// slowWriters are ways to write a manifest in place, piece by piece.
var slowWriters = []struct {
	rule string
	// before is the content of the file before the writer starts.
	before string
	// flag is the flag for opening the file. reopen is true if the writer opens it again for
	// every piece.
	flag   int
	reopen bool
}{
	{"a new file, held open", "", os.O_CREATE | os.O_EXCL, false},
	{"a new file, opened for every piece", "", os.O_CREATE | os.O_APPEND, true},
	{"a file that is cut off and written again", manifestOf("old", "old"), os.O_TRUNC, false},
	{"a file that is written over and then cut off", manifestOf("old", "old") + "# " + strings.Repeat("old ", 300) + "\n", 0, false},
	{"documents that are appended to a file", manifestOf("old", "old"), os.O_APPEND, true},
}

// slowWriter writes one manifest.
type slowWriter struct {
	path   string
	flag   int
	reopen bool
	// text is the text to write. whole is the content of the file at the end.
	text, whole string
	file        *os.File
}

func newSlowWriter(t *testing.T, path, before, text string, flag int, reopen bool) *slowWriter {
	t.Helper()
	w := &slowWriter{path: path, flag: flag, reopen: reopen, text: text, whole: text}
	if before != "" {
		write(t, path, before)
		if flag&os.O_APPEND != 0 {
			w.text = "---\n" + text
			w.whole = before + w.text
		}
	}
	return w
}

// lines returns the pieces to write, which are the lines of the text.
func (w *slowWriter) lines() []string { return slices.Collect(strings.Lines(w.text)) }

func (w *slowWriter) write(piece string) error {
	if w.file == nil {
		var err error
		if w.file, err = os.OpenFile(w.path, os.O_WRONLY|w.flag, 0o600); err != nil {
			return err
		}
		w.flag &^= os.O_TRUNC | os.O_EXCL
	}
	if _, err := w.file.WriteString(piece); err != nil || !w.reopen {
		return err
	}
	return w.close()
}

func (w *slowWriter) close() error {
	f := w.file
	w.file = nil
	if f == nil {
		return nil
	}
	defer f.Close()
	if w.flag&os.O_APPEND == 0 {
		return f.Truncate(int64(len(w.whole)))
	}
	return nil
}

// appends reports whether documents can be appended to a manifest with this name.
func appends(name string) bool { return filepath.Ext(name) != ".json" }

// wholes returns the documents of the files in a directory, read by a source whose clock is a
// year ahead, so that it does not wait for any file to settle.
func wholes(t *testing.T, dir string) []string {
	t.Helper()
	s, k := newSource(dir, time.Nanosecond, func(c *Config) { c.Now = func() time.Time { return time.Now().AddDate(1, 0, 0) } })
	must(t, s.look(t.Context()))
	for _, text := range k.has() {
		if strings.Contains(text, api.HoldSuffix+" ") {
			t.Fatalf("a manifest is bad: %s", text)
		}
	}
	return k.has()
}

// TestNoPrefixOfAManifestIsReadHoweverSlowItIsWritten sets the clock after every line to one
// nanosecond before the time at which the source may read the file.
func TestNoPrefixOfAManifestIsReadHoweverSlowItIsWritten(t *testing.T) {
	t.Parallel()
	for _, watched := range []string{"with events", "without events"} {
		for _, how := range slowWriters {
			for name, text := range corpus(t) {
				if how.before != "" && how.flag&os.O_APPEND != 0 && !appends(name) {
					continue
				}
				t.Run(watched+"/"+how.rule+"/"+name, func(t *testing.T) {
					t.Parallel()
					dir := t.TempDir()
					w := newSlowWriter(t, filepath.Join(dir, name), how.before, text, how.flag, how.reopen)
					clock := time.Now().Add(time.Hour)
					s, k := started(t, dir, func(c *Config) { c.Now = func() time.Time { return clock } })
					if watched == "without events" {
						s.stopWatching()
					}
					look := func() {
						if watched == "with events" {
							takeEvents(t, s)
						}
						must(t, s.look(t.Context()))
					}
					before := k.all()
					for i, line := range w.lines() {
						must(t, w.write(line))
						if i == 0 || watched == "without events" {
							must(t, os.Chtimes(w.path, clock, clock))
						}
						look()
						clock = clock.Add(slow - time.Nanosecond)
						look()
						if diff := cmp.Diff(before, k.all()); diff != "" {
							t.Fatalf("after line %d was written (-want +got):\n%s", i+1, diff)
						}
					}
					must(t, w.close())
					look()
					clock = clock.Add(slow)
					look()
					if diff := cmp.Diff(wholes(t, dir), k.has()); diff != "" || len(k.all()) != len(before)+1 {
						t.Errorf("in the end there were %d deliveries, want 1 (-want +got):\n%s", len(k.all())-len(before), diff)
					}
				})
			}
		}
	}
}

// TestNoPrefixOfAManifestIsReadWhenManyAreWrittenAtOnce uses the real clock, real events, and
// writers that write in bursts with pauses.
func TestNoPrefixOfAManifestIsReadWhenManyAreWrittenAtOnce(t *testing.T) {
	t.Parallel()
	for _, how := range slowWriters {
		t.Run(how.rule, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var writers []*slowWriter
			for name, text := range corpus(t) {
				if how.before == "" || how.flag&os.O_APPEND == 0 || appends(name) {
					writers = append(writers, newSlowWriter(t, filepath.Join(dir, name), how.before, text, how.flag, how.reopen))
				}
			}
			s, k := started(t, dir)
			s.cfg.Settle = 2 * time.Second
			run(t, s, k)
			before := k.has()
			var group sync.WaitGroup
			for i, w := range writers {
				group.Go(func() {
					random := rand.New(rand.NewPCG(1, uint64(i)))
					for _, line := range w.lines() {
						if err := w.write(line); err != nil {
							t.Error(err)
						}
						if random.IntN(3) == 0 {
							time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
						}
					}
					if err := w.close(); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			want := wholes(t, dir)
			eventually(t, want, k.has)
			given := slices.Clone(before)
			for _, d := range k.all()[1:] {
				for _, path := range d.Gone {
					if slices.ContainsFunc(want, func(text string) bool { return strings.HasPrefix(text, path+"#") }) {
						t.Errorf("gone: %s", path)
					}
				}
				given = append(given, d.Changed...)
			}
			// Documents that the file had before and still has are delivered together with the
			// new ones.
			want = slices.Concat(want, slices.DeleteFunc(before, func(text string) bool { return slices.Contains(want, text) }))
			slices.Sort(given)
			slices.Sort(want)
			if diff := cmp.Diff(slices.Compact(want), slices.Compact(given)); diff != "" {
				t.Errorf("all that was ever given (-want +got):\n%s", diff)
			}
		})
	}
}

// TestManyPrefixesOfTheCorpusAreManifestsOfTheirOwn checks that the two tests above can fail:
// many prefixes of the manifests are valid manifests.
func TestManyPrefixesOfTheCorpusAreManifestsOfTheirOwn(t *testing.T) {
	t.Parallel()
	from := manifest.DecodeFrom{Source: "local", Kind: api.KindFile, File: "/m/a", NodeName: "node"}
	count := 0
	for name, text := range corpus(t) {
		versions := map[string]bool{}
		for _, d := range manifest.Decode([]byte(text), from) {
			if d.Err != nil {
				t.Errorf("%s: %v", name, d.Err)
			}
			versions[d.Version] = true
		}
		var prefix bytes.Buffer
		for line := range strings.Lines(text) {
			prefix.WriteString(line)
			if slices.ContainsFunc(manifest.Decode(prefix.Bytes(), from), func(d api.Document) bool {
				return d.Pod != nil && !versions[d.Version]
			}) {
				count++
			}
		}
	}
	if count < 30 {
		t.Errorf("%d prefixes are pods that differ from those of the whole, want at least 30", count)
	}
}

// TestAPrefixThatStandsStillIsAManifest checks that a prefix is read once it has settled. The
// tests above would find such a read.
func TestAPrefixThatStandsStillIsAManifest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clock := time.Now().Add(time.Hour)
	s, k := started(t, dir, func(c *Config) { c.Now = func() time.Time { return clock } })
	s.watch.Open = func() (*fswatch.Backend, error) { return nil, os.ErrPermission }
	s.stopWatching()
	write(t, filepath.Join(dir, "a.yaml"), strings.TrimSuffix(manifestOf("a", "pre"), "\n"))
	must(t, os.Chtimes(filepath.Join(dir, "a.yaml"), clock, clock))
	must(t, s.look(t.Context()))
	clock = clock.Add(slow)
	must(t, s.look(t.Context()))
	if diff := cmp.Diff([]string{"a.yaml#0 a pre"}, k.has()); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}
