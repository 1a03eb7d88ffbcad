package manifest

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"testing"
)

// TestCorpus compares every manifest of the corpus, as a file and over HTTP, and compares both
// answers with the verdicts of the corpus.
func TestCorpus(t *testing.T) {
	all := newUses()
	t.Run("fields", func(t *testing.T) {
		for i, c := range slices.Concat(fieldCases, notHonoured, emptyWords) {
			for _, one := range c.manifests(t) {
				t.Run(fmt.Sprintf("%d %s %.40s", i, c.path, one.value), func(t *testing.T) {
					t.Parallel()
					for _, at := range kinds {
						one.check(t, at, all)
					}
				})
			}
		}
	})
	t.Run("without one field", func(t *testing.T) {
		doc, err := tree([]byte(full))
		if err != nil {
			t.Fatal(err)
		}
		for i := range spotsOf(doc) {
			for _, at := range kinds {
				less := clone(doc).(map[string]any)
				s := spotsOf(less)[i]
				if in, ok := s.in.(map[string]any); ok {
					delete(in, s.key)
				} else {
					s.set(nil)
				}
				if err := all.compare(answers(render(less, at == aURL), at), 0); err != nil {
					t.Errorf("%s, without %d %s: %v", at.kind, i, s.key, err)
				}
			}
		}
	})
	t.Run("documents", func(t *testing.T) {
		for _, c := range documentCases {
			t.Run(c.rule, func(t *testing.T) {
				t.Parallel()
				c.check(t, all)
			})
		}
	})
	t.Run("files", func(t *testing.T) {
		for i, text := range ancestors().texts {
			for _, at := range kinds {
				if err := all.compare(answers([]byte(text), at), 0); err != nil {
					t.Errorf("%d, %s: %v\n%s", i, at.kind, err, excerpt([]byte(text)))
				}
			}
		}
	})
	all.log(t, "corpus")
	for _, id := range known() {
		if all.of(id) == 0 && !slices.Contains(ofUIDs, id) {
			t.Errorf("%s: nothing in the corpus needs it", id)
		}
	}
}

// manifestCase is a fieldCase with one value in place.
type manifestCase struct {
	value   string
	doc     map[string]any
	verdict string
	differs string
}

func (c *fieldCase) manifests(t *testing.T) []manifestCase {
	t.Helper()
	base, err := tree([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	var out []manifestCase
	add := func(v, verdict, differs string) {
		doc := clone(base).(map[string]any)
		for _, w := range c.with {
			if !put(doc, w[0], value(w[1]), false) {
				t.Fatalf("no place %s", w[0])
			}
		}
		if !put(doc, c.path, value(v), false) {
			t.Fatalf("no place %s", c.path)
		}
		out = append(out, manifestCase{v, doc, verdict, differs})
	}
	for _, v := range c.valid {
		add(v, taken, "")
	}
	for _, v := range c.invalid {
		add(v, refused, "")
	}
	for v, id := range c.differs {
		if id == local {
			add(v, refused, id)
			continue
		}
		add(v, taken, id)
	}
	return out
}

func (c *manifestCase) check(t *testing.T, at place, all *uses) {
	t.Helper()
	// Half of the corpus is JSON, because a kubelet parses JSON in another way.
	s := answers(render(c.doc, at == aURL), at)
	if got := verdictOf(s.err); got != c.verdict {
		t.Errorf("%s: %s by a kubelet, the corpus says %s: %v", at.kind, got, c.verdict, s.err)
		return
	}
	u := newUses()
	if err := u.compare(s, 0); err != nil {
		t.Errorf("%s: %v", at.kind, err)
	}
	if c.differs != "" && u.of(c.differs) == 0 {
		t.Errorf("%s: %s was not needed", at.kind, c.differs)
	}
	if (len(s.faults) > 0) != ((c.verdict == refused) != (c.differs != "")) {
		t.Errorf("%s: Wardlet says %v", at.kind, s.faults)
	}
	all.add(u)
}

func verdictOf(err error) string {
	if err != nil {
		return refused
	}
	return taken
}

func (c *documentCase) check(t *testing.T, all *uses) {
	t.Helper()
	u := newUses()
	for _, at := range kinds {
		want := c.file
		if at == aURL {
			want = c.http
		}
		s := answers([]byte(c.text), at)
		if got := verdictOf(s.err); got != want {
			t.Errorf("%s: %s by a kubelet, the corpus says %s: %v", at.kind, got, want, s.err)
		}
		if err := u.compare(s, 0); err != nil {
			t.Errorf("%s: %v", at.kind, err)
		}
	}
	for _, id := range c.differs {
		if u.of(id) == 0 {
			t.Errorf("%s was not needed", id)
		}
	}
	all.add(u)
}

var (
	mutants = flag.Uint64("mutants", 2000, "how many mutants to compare")
	seed    = flag.Uint64("seed", 1, "what mutants are made from")
	only    = flag.Int64("mutant", -1, "compare this mutant only, and show it")
)

// TestMutants compares manifests made from the corpus at random: the same seed makes the same
// manifests.
func TestMutants(t *testing.T) {
	all := newUses()
	if *only >= 0 {
		m := grow(*seed, uint64(*only))
		t.Logf("%s\n%s", m.at.kind, m.text)
		m.check(t, uint64(*only), all)
		return
	}
	numbers := make(chan uint64)
	go func() {
		defer close(numbers)
		for n := range *mutants {
			numbers <- n
		}
	}()
	t.Run("all", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("worker", func(t *testing.T) {
				t.Parallel()
				for n := range numbers {
					m := grow(*seed, n)
					m.check(t, n, all)
				}
			})
		}
	})
	all.log(t, fmt.Sprintf("%d mutants", *mutants))
}

func (m *mutant) check(t *testing.T, number uint64, all *uses) {
	t.Helper()
	if err := all.compare(answers(m.text, m.at), 0); err != nil {
		t.Errorf("mutant %d (-seed %d -mutant %d), %s: %v\n%s", number, *seed, number, m.at.kind, err, excerpt(m.text))
	}
}

// FuzzManifest compares the manifests that the fuzzer makes of the corpus.
func FuzzManifest(f *testing.F) {
	for _, text := range ancestors().texts {
		f.Add([]byte(text), true)
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, file bool) {
		at := aURL
		if file {
			at = aFile
		}
		if err := newUses().compare(answers(text, at), 0); err != nil {
			t.Errorf("%s: %v", at.kind, err)
		}
	})
}
