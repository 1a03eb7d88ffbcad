package state

import (
	"strings"
	"testing"
)

func TestAQuantityThatWouldTakeForEverIsRefused(t *testing.T) {
	t.Parallel()
	good, err := seal(record("files", "a", "1"))
	check(t, err)
	for _, tc := range []struct {
		from, to string
		refused  bool
	}{
		{`"500m"`, `"1e9999999999"`, true},
		{`"500m"`, `"-1E-9999999999"`, true},
		{`"500m"`, "1e9999999999", true},
		{`"500m"`, `"` + strings.Repeat("9", 1000000) + `"`, true},
		{`"limits"`, `"LIMITS": {"cpu": "1e9999999999"}, "requests"`, true},
		{`"500m"`, `"1e99"`, false},
		{`"500m"`, `"0.000000001"`, false},
		{`"web"`, `"1e9999999999"`, false},
		{`"a": "b"`, `"limits": "1e9999999999"`, false},
	} {
		_, body, _ := strings.Cut(string(good), "\n")
		changed := []byte(strings.Replace(body, tc.from, tc.to, 1))
		if string(changed) == body {
			t.Fatalf("no %s in the record", tc.from)
		}
		var r Record
		err := unseal(append(checksum(changed), changed...), &r)
		if tc.refused {
			wantError(t, err, "is far too large, or too exact")
		} else if err != nil {
			t.Errorf("%s: %v", tc.to, err)
		}
	}
}
