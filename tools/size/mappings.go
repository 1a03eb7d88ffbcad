package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/wardlet/wardlet/test/harness"
)

// mapping is the resident memory of one kind of mapping, in bytes.
type mapping struct {
	name     string
	resident int64
}

// mappings returns the sums of the resident memory in /proc/PID/smaps by kind of mapping, the
// largest first.
func mappings(smaps string) []mapping {
	sums := map[string]int64{}
	name := ""
	for line := range strings.Lines(smaps) {
		fields := strings.Fields(line)
		if len(fields) >= 5 && strings.Contains(fields[0], "-") && len(fields[1]) == 4 {
			name = mappingName(fields)
			continue
		}
		if bytes, err := harness.Kilobytes(line, "Rss"); err == nil {
			sums[name] += bytes
		}
	}
	var all []mapping
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if sums[name] > 0 {
			all = append(all, mapping{name, sums[name]})
		}
	}
	slices.SortStableFunc(all, func(a, b mapping) int { return cmp.Compare(b.resident, a.resident) })
	return all
}

// mappingName returns the sixth field of a mapping's first line, or "anonymous", and the
// permissions.
func mappingName(fields []string) string {
	name := strings.Join(fields[5:], " ")
	if name == "" {
		name = "anonymous"
	}
	return name + " " + fields[1][:3]
}
