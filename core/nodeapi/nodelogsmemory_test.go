//go:build !race

package nodeapi

import (
	"regexp"
	"runtime"
	"testing"
)

// It does not run beside other tests, whose memory would count. Under the race detector, what pools keep
// is dropped at random, and made again.
func TestPrintLines_memory(t *testing.T) {
	const size, most = 64 << 20, 32 << 20
	zero := regexp.MustCompile("\x00")
	for name, test := range map[string]struct {
		line int
		q    logQuery
	}{
		"a file without a line":                   {0, logQuery{lines: -1}},
		"the last line of a file without one":     {0, logQuery{lines: 1}},
		"a match in a file without a line":        {0, logQuery{lines: -1, pattern: zero}},
		"the last match in a file without a line": {0, logQuery{lines: 1, pattern: zero}},
		"many long lines":                         {8 << 10, logQuery{lines: maxTailLines}},
		"many matches":                            {8 << 10, logQuery{lines: maxTailLines, pattern: zero}},
		"many short matches":                      {256, logQuery{lines: maxTailLines, pattern: zero}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		counted := &counter{}
		err := printLines(t.Context(), counted, made{line: test.line}, size, &test.q)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; err != nil || used > most {
			t.Errorf("%s: %d bytes of memory, want at most %d; %v", name, used, most, err)
		}
		if counted.n == 0 || counted.n > size {
			t.Errorf("%s: %d bytes were printed", name, counted.n)
		}
	}
}
