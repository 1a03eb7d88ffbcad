package cli

import "testing"

func TestHanging_linesAreIndentedOnce(t *testing.T) {
	t.Parallel()
	if got, want := Hanging("a\nb\n  c"), "a\n  b\n  c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
