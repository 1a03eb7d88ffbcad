package manifest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var differenceRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// TestTheDocumentHasALineForEachDifference compares the section Manifests of
// docs/differences.md with the predicates.
func TestTheDocumentHasALineForEachDifference(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## Manifests\n")
	if !ok {
		t.Fatal("no section Manifests")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var lines []string
	for _, m := range differenceRow.FindAllStringSubmatch(section, -1) {
		lines = append(lines, m[1])
	}
	slices.Sort(lines)
	if diff := cmp.Diff(known(), lines); diff != "" {
		t.Errorf("lines (-predicates +document):\n%s", diff)
	}
}

// known are the differences that have a predicate.
func known() []string {
	ids := slices.Concat(structural, ofUIDs)
	for _, d := range differences {
		ids = append(ids, d.id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// TestTheCorpusHasEveryHonouredField checks that each row of the table of
// supported fields has values that are taken and values that are not.
func TestTheCorpusHasEveryHonouredField(t *testing.T) {
	t.Parallel()
	good, bad := map[string]int{}, map[string]int{}
	for _, c := range fieldCases {
		good[patternOf(c.path)] += len(c.valid)
		bad[patternOf(c.path)] += len(c.invalid) + len(c.differs)
		for _, line := range c.differs {
			if line == local { // Wardlet takes it
				good[patternOf(c.path)]++
				bad[patternOf(c.path)]--
			}
		}
	}
	for row := range supportedFields() {
		path := strings.TrimSuffix(strings.TrimSuffix(row, "[]"), ".*")
		path = strings.NewReplacer("*/*", "example.com/gpu", "hugepages-*", "hugepages-2Mi").Replace(path) // one of them
		if good[path] == 0 || bad[path] == 0 {
			t.Errorf("%s: %d values that are taken, %d that are not", row, good[path], bad[path])
		}
	}
}
