package apiserver

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/kube"
)

// TestLog checks that an outage is logged when it begins, when its reason changes, and when it
// ends. Each attempt is logged only at the debug level.
func TestLog(t *testing.T) {
	t.Parallel()
	l := &logs{}
	f := newFixture(t, "a")
	now := time.Unix(1e9, 0)
	f.sink, f.source = newSource(t, kube.Config{Server: f.URL}, Config{Logger: l.logger(), Now: func() time.Time { return now }})
	attempts := func() int { return len(f.asked()) }
	f.breaks(say(http.StatusInternalServerError, "text/plain", "one"))
	run(t, f.source)
	eventually(t, true, func() bool { return attempts() > 4 })
	f.breaks(say(http.StatusInternalServerError, "text/plain", "two"))
	more := attempts() + 4
	eventually(t, true, func() bool { return attempts() > more })
	f.breaks(nil)
	eventually(t, 1, f.watching)
	eventually(t, "<nil>", f.sink.lastHealth)
	var got []string
	for line := range strings.Lines(l.String()) {
		_, line, _ = strings.Cut(line, "level=")
		got = append(got, line)
	}
	want := []string{
		`WARN msg="API server cannot be read; earlier objects stay" source=api err="API server ` + f.URL,
		`WARN msg="API server cannot be read; earlier objects stay" source=api err="API server ` + f.URL,
		`INFO msg="API server is read again" source=api server=` + f.URL + ` after=0s`,
	}
	if len(got) != len(want) {
		t.Fatalf("logged:\n%s", strings.Join(got, ""))
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("line %d is %swant %s", i, got[i], want[i])
		}
	}
}
