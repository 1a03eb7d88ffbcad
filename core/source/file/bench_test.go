package file

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// BenchmarkOneManifest replaces one manifest among many. Its cost does not depend on the number
// of manifests.
func BenchmarkOneManifest(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			dir := b.TempDir()
			for i := range n {
				replace(b, filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), manifestOf(fmt.Sprint("n", i), "i"))
			}
			s, _ := newSource(dir, time.Millisecond)
			s.next = s.cfg.Now().Add(s.cfg.Period)
			s.keepWatching()
			defer s.stopWatching()
			must(b, s.look(b.Context()))
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				replace(b, filepath.Join(dir, "0.yaml"), manifestOf("n0", fmt.Sprint("j", i)))
				if !s.caughtUp() {
					b.Fatal("the events did not come")
				}
				clear(s.late)
				b.StartTimer()
				must(b, s.look(b.Context()))
			}
		})
	}
}
