package privateruntime

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDecodeInstance(t *testing.T) {
	whole, err := json.Marshal(testInstance())
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeInstance("demo", whole)
	if err != nil || got != testInstance() {
		t.Errorf("got %+v, %v, want what was written", got, err)
	}
	for name, text := range map[string]string{
		"half":               string(whole[:len(whole)/2]),
		"empty":              "",
		"another's":          strings.Replace(string(whole), `"demo"`, `"other"`, 1),
		"relative directory": strings.Replace(string(whole), `"/srv/demo"`, `"demo"`, 1),
		"no subnet":          strings.Replace(string(whole), `"10.77.3.0/24"`, `""`, 1),
	} {
		if _, err := decodeInstance("demo", []byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
