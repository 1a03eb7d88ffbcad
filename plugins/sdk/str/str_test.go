package str

import (
	"strings"
	"testing"
)

// check compares all functions with those of package strings.
func check(t *testing.T, s, part string, c byte) {
	t.Helper()
	if got, want := Equal(s, part), s == part; got != want {
		t.Errorf("Equal(%q, %q) is %v", s, part, got)
	}
	if got, want := HasPrefix(s, part), strings.HasPrefix(s, part); got != want {
		t.Errorf("HasPrefix(%q, %q) is %v", s, part, got)
	}
	if got, want := HasSuffix(s, part), strings.HasSuffix(s, part); got != want {
		t.Errorf("HasSuffix(%q, %q) is %v", s, part, got)
	}
	if got, want := IndexByte(s, c), strings.IndexByte(s, c); got != want {
		t.Errorf("IndexByte(%q, %q) is %d, want %d", s, c, got, want)
	}
	if got, want := HasByte(s, c), strings.IndexByte(s, c) >= 0; got != want {
		t.Errorf("HasByte(%q, %q) is %v", s, c, got)
	}
}

func TestResultsAreThoseOfPackageStrings(t *testing.T) {
	t.Parallel()
	const all = "registry.example/shop/web:1.2.3@sha256:\x00\x01\x7f\x80\xff"
	for from := range len(all) + 1 {
		for to := from; to <= len(all); to++ {
			s := all[from:to]
			for _, c := range []byte{'@', ':', 'r', 0, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff} {
				check(t, s, all[:to], c)
				check(t, s, all[from:], c)
				check(t, all, s, c)
			}
			for i := range len(s) {
				other := s[:i] + "#" + s[i+1:]
				check(t, s, other, s[i])
				check(t, all[:from]+other, s, s[i])
				check(t, other+all[to:], s, '#')
			}
		}
	}
}

func FuzzStrings(f *testing.F) {
	f.Add("registry.example/web:1", "registry.example/", byte(':'))
	f.Add("", "", byte(0))
	f.Add("\x01\x00\x01\x00\x80\x7f\xff\x00", "\x00", byte(1))
	f.Fuzz(func(t *testing.T, s, part string, c byte) { check(t, s, part, c) })
}
