package policycmd

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/cmd/agent/cli"
)

func TestWhatIsInspectedSteersNoTerminal(t *testing.T) {
	t.Parallel()
	const names = `["\u001b[2J\u202e"]`
	var r report
	if err := json.Unmarshal([]byte(`{
		"contents": {"markers": `+names+`, "imports": [{"module": "\u001b[2J", "name": "\u001b[2J"}]},
		"refused": [{"code": "HostDenied", "offset": 7, "message": "\u001b[2J\u009b"}]
	}`), &r); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	(&app{&cli.App{Out: &out}}).printReport(&r)
	for _, want := range []string{
		`ABI:               \x1b[2J\u202e` + "\n", `Imports:           \x1b[2J: \x1b[2J (`, `HostDenied: at byte 0x7: \x1b[2J\u009b` + "\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("printed\n%s\nwant %q in it", &out, want)
		}
	}
	if strings.ContainsAny(out.String(), "\x1b\u202e\u009b") {
		t.Errorf("printed %q", &out)
	}
}
