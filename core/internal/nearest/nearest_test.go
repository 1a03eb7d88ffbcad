package nearest

import "testing"

func TestWord(t *testing.T) {
	t.Parallel()
	known := []string{"name", "kind", "path", "missing_path", "request_timeout"}
	for unknown, want := range map[string]string{
		"nme":            "name",
		"NAME":           "name",
		"pth":            "path",
		"paths":          "path",
		"missing-path":   "missing_path",
		"missingPath":    "missing_path",
		"requesttimeoot": "request_timeout",
		"timeout":        "",
		"on":             "",
		"x":              "",
	} {
		if got, ok := Word(unknown, known); got != want || ok != (want != "") {
			t.Errorf("nearest to %q: %q, want %q", unknown, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "abc", 0},
		{"abc", "acb", 1},
		{"abc", "abd", 1},
		{"kitten", "sitting", 3},
		{"abcdef", "badcfe", 3},
	} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
		if got := distance(test.b, test.a); got != test.want {
			t.Errorf("distance(%q, %q) = %d, want %d", test.b, test.a, got, test.want)
		}
	}
}
