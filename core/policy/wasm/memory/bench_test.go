package memory

import (
	"fmt"
	"testing"
)

// BenchmarkRestore measures the cost of a call beside its own work: the call writes the first
// byte of dirty pages, which causes page faults, and the memory is then restored. Every
// second page has content; one in 32 was read before.
func BenchmarkRestore(b *testing.B) {
	for _, method := range methods {
		for _, size := range []int{64 << 10, 192 << 10, 3392 << 10} {
			for _, dirty := range []int{0, 2, 16} {
				b.Run(fmt.Sprintf("%v/%dKiB/%d", method, size>>10, dirty), func(b *testing.B) {
					l, memory := benchMemory(b, method, size)
					step := size / max(dirty, 1) / pageSize * pageSize
					b.ReportAllocs()
					for b.Loop() {
						for at := range dirty {
							memory[at*step] = 1
						}
						if _, err := l.Restore(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func benchMemory(b *testing.B, method Method, size int) (*Linear, []byte) {
	b.Helper()
	l, memory, want := prepared(b, size, By(method))
	for at := 0; at < size; at += 32 * pageSize {
		if memory[at] != want[at] {
			b.Fatal("the memory holds something else")
		}
	}
	return l, memory
}
