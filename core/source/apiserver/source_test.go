package apiserver

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestConfig: what no file could mend later is refused at once.
func TestConfig(t *testing.T) {
	t.Parallel()
	good := Config{Name: "api", NodeName: testNode, Server: "https://192.0.2.1:6443"}
	tests := map[string]struct {
		change func(*Config)
		want   string
	}{
		"a URL is enough":               {func(*Config) {}, ""},
		"files are read later":          {func(c *Config) { c.TokenFile, c.CAFile = "/nowhere/token", "/nowhere/ca" }, ""},
		"a path is a part of it":        {func(c *Config) { c.Server = "https://192.0.2.1/cluster/one" }, ""},
		"a proxy on this machine":       {func(c *Config) { c.Server = "http://127.0.0.1:8001" }, ""},
		"by name":                       {func(c *Config) { c.Server = "http://localhost:8001" }, ""},
		"a node without a name":         {func(c *Config) { c.NodeName = "" }, "the node's name is empty"},
		"no server":                     {func(c *Config) { c.Server = "" }, `API server "": not a URL with a host; write https://HOST:PORT`},
		"no scheme":                     {func(c *Config) { c.Server = "192.0.2.1:6443" }, "first path segment in URL cannot contain colon"},
		"a path only":                   {func(c *Config) { c.Server = "/var/run/api" }, "not a URL with a host"},
		"a control character":           {func(c *Config) { c.Server = "https://a\x7f" }, "invalid control character in URL"},
		"another scheme":                {func(c *Config) { c.Server = "ftp://192.0.2.1" }, `the scheme "ftp" is not supported; use https`},
		"a password":                    {func(c *Config) { c.Server = "https://me:secret@192.0.2.1" }, "use a token or certificate file"},
		"a query":                       {func(c *Config) { c.Server = "https://192.0.2.1?a=b" }, "query"},
		"plain http":                    {func(c *Config) { c.Server = "http://192.0.2.1" }, "http is only for a proxy on this machine"},
		"plain http by a name":          {func(c *Config) { c.Server = "http://api.example" }, "http is only for a proxy on this machine"},
		"a token over http":             {func(c *Config) { c.Server, c.TokenFile = "http://127.0.0.1:1", "/t" }, "credentials and certificates are not used over http"},
		"authorities over http":         {func(c *Config) { c.Server, c.CAFile = "http://127.0.0.1:1", "/t" }, "credentials and certificates are not used over http"},
		"a certificate without its key": {func(c *Config) { c.CertFile = "/c" }, "needs both a certificate and a key file"},
		"a key without its certificate": {func(c *Config) { c.KeyFile = "/k" }, "needs both a certificate and a key file"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := good
			test.change(&c)
			_, err := New(c)
			switch {
			case err == nil && test.want != "":
				t.Errorf("accepted; want %q", test.want)
			case err != nil && (test.want == "" || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			case err != nil && strings.Contains(err.Error(), "secret"):
				t.Errorf("shows the password: %v", err)
			}
		})
	}
}

// TestLog: an outage is told of when it begins, when its reason changes and
// when it ends; every attempt only for debugging.
func TestLog(t *testing.T) {
	t.Parallel()
	l := &logs{}
	f := newFixture(t, "a")
	now := time.Unix(1e9, 0)
	f.sink, f.source = newSource(t, Config{Server: f.URL, Logger: l.logger(), Now: func() time.Time { return now }})
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
		`WARN msg="API server cannot be read; what it gave before stays" source=api err="API server ` + f.URL,
		`WARN msg="API server cannot be read; what it gave before stays" source=api err="API server ` + f.URL,
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

// TestQuiet: what client-go says at any level but error is for debugging.
func TestQuiet(t *testing.T) {
	t.Parallel()
	l := &logs{}
	log := slog.New(quiet{slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug})}).With("a", 1).WithGroup("g")
	log.Debug("one")
	log.Info("two")
	log.Warn("three")
	log.Error("four", "b", 2)
	log.Log(t.Context(), -9, "five")
	var got []string
	for line := range strings.Lines(l.String()) {
		_, line, _ = strings.Cut(line, "level=")
		got = append(got, strings.TrimSpace(line))
	}
	want := "DEBUG msg=one a=1,DEBUG msg=two a=1,DEBUG msg=three a=1,ERROR msg=four a=1 g.b=2"
	if text := strings.Join(got, ","); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}
