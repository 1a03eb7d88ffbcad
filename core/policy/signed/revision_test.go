package signed

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheNextRevision(t *testing.T) {
	t.Parallel()
	of := func(revision uint64) []byte { return Build(revision, three()) }
	const greatest = "9223372036854775807"
	for name, test := range map[string]struct {
		old  []byte
		want uint64
		next uint64
		err  string
	}{
		"begins with 1":                         {nil, 0, 1, ""},
		"begins with another":                   {nil, 5, 5, ""},
		"is one more":                           {of(7), 0, 8, ""},
		"may leave some out":                    {of(7), 12, 12, ""},
		"may stay":                              {of(7), 7, 7, ""},
		"does not go back":                      {of(7), 6, 0, "DIR/set.toml has revision 7, and an agent that accepted it refuses 6; sign with 7 or more, or remove that file first"},
		"reaches the greatest":                  {of(MaxRevision - 1), 0, MaxRevision, ""},
		"does not leave it":                     {of(MaxRevision), 0, 0, "DIR/set.toml has the greatest revision there is; no agent that accepted it takes another set, unless its operator rolls back; name that one again with --revision " + greatest},
		"may stay with it":                      {of(MaxRevision), MaxRevision, MaxRevision, ""},
		"is not greater":                        {nil, MaxRevision + 1, 0, "the revision 9223372036854775808 is too great; at most " + greatest + " is possible"},
		"is told where none can be read":        {[]byte("revision = 7\n"), 8, 8, ""},
		"is not guessed where none can be read": {[]byte{}, 0, 0, "the revision so far cannot be told; name the new one with --revision:\nDIR/set.toml: " + strings.TrimPrefix(fmt.Sprint(errOf([]byte{})), "x: ")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := NextRevision("DIR/set.toml", test.old, test.want)
			wants(t, err, test.err)
			if got != test.next {
				t.Errorf("revision %d, want %d", got, test.next)
			}
		})
	}
}

func errOf(text []byte) error {
	_, err := ParseManifest("x", text)
	return err
}
