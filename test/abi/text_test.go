package abi

import (
	"encoding/json"
	"strings"
	"testing"
)

// text is a string. A long text of one repeated character is written as {"repeat": "a", "times":
// 4096}.
type text string

// leastRepeated is the minimum length of a text that is written as a repetition.
const leastRepeated = 65

type repetition struct {
	Repeat string `json:"repeat"`
	Times  int    `json:"times"`
}

// MarshalJSON writes the shorter form.
func (t text) MarshalJSON() ([]byte, error) {
	if len(t) >= leastRepeated && strings.Count(string(t), string(t[:1])) == len(t) {
		return json.Marshal(repetition{string(t[:1]), len(t)})
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(string(t))
	return []byte(b.String()), err
}

// UnmarshalJSON reads both forms.
func (t *text) UnmarshalJSON(content []byte) error {
	if content[0] == '"' {
		return json.Unmarshal(content, (*string)(t))
	}
	var r repetition
	err := strictly(content, &r)
	*t = text(strings.Repeat(r.Repeat, r.Times))
	return err
}

func TestLongTextsAreRepetitions(t *testing.T) {
	t.Parallel()
	for in, want := range map[text]string{
		"a<b":                               `"a<b"`,
		text(strings.Repeat("a", 64)):       `"` + strings.Repeat("a", 64) + `"`,
		text(strings.Repeat("a", 65)):       `{"repeat":"a","times":65}`,
		text(strings.Repeat("a", 65) + "b"): `"` + strings.Repeat("a", 65) + `b"`,
	} {
		written, err := json.Marshal(&in)
		if err != nil {
			t.Fatal(err)
		}
		var back text
		if err := json.Unmarshal(written, &back); err != nil || back != in {
			t.Errorf("%s is read as %q, %v", written, back, err)
		}
		if got := strings.ReplaceAll(string(written), `\u003c`, "<"); got != want {
			t.Errorf("%q is written as %s, want %s", in, written, want)
		}
	}
}
