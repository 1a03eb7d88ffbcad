package state

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzRecord reads arbitrary bytes as records, with and without a valid checksum. A record that
// is accepted must be usable and must stay the same when it is stored again.
func FuzzRecord(f *testing.F) {
	good, err := seal(record("files", "/m/a.yaml#0", "1"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(false, good)
	body := string(good[len(checksum(nil)):])
	f.Add(true, []byte(body))
	for name, tc := range unusable {
		r := record("files", "/m/a.yaml#0", "1")
		tc.spoil(r)
		data, err := seal(r)
		if err != nil {
			f.Fatal(name, err)
		}
		f.Add(false, data)
	}
	for _, text := range []string{
		"", "null", "[]", "{", "{}", `"x"`, "\x00", strings.Repeat("[", 20000), `{"pod":` + strings.Repeat(`{"spec":`, 20000),
		strings.ReplaceAll(body, "500m", "1e9999999999"), strings.ReplaceAll(body, "500m", "-1e-9999999999"),
		strings.ReplaceAll(body, `"500m"`, "1e9999999999"), strings.ReplaceAll(body, "500m", strings.Repeat("9", 1000)+"k"),
		strings.ReplaceAll(body, "500m", "\xff"), strings.ReplaceAll(body, `"2026-01-02T`, `"9999999-01-02T`),
		strings.ReplaceAll(body, `"containers": [`, `"containers": [null, `), body + body,
	} {
		f.Add(true, []byte(text))
	}
	f.Fuzz(func(t *testing.T, sealed bool, data []byte) {
		if sealed {
			data = append(checksum(data), data...)
		}
		var r Record
		if unseal(data, &r) != nil || r.usable() != nil {
			return
		}
		if r.Pod.UID == "" || len(r.Pod.Spec.Containers) == 0 || len(r.document().file()) != 32+len(recordSuffix) {
			t.Fatalf("taken as a record: %+v", r)
		}
		again, err := seal(&r)
		if err != nil {
			t.Fatal(err)
		}
		var back Record
		if err := unseal(again, &back); err != nil || back.usable() != nil {
			t.Fatalf("%v, %v", err, back.usable())
		}
		twice, err := seal(&back)
		if err != nil || string(twice) != string(again) {
			t.Fatalf("%v (-once +twice):\n%s", err, cmp.Diff(string(again), string(twice)))
		}
	})
}
