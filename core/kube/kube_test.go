package kube

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/cluster/pki"
)

// A configuration is refused at once if no later change of a file can make it valid.
func TestNew_config(t *testing.T) {
	t.Parallel()
	good := Config{Server: "https://192.0.2.1:6443"}
	tests := map[string]struct {
		change func(*Config)
		want   string
	}{
		"a URL is enough":               {func(*Config) {}, ""},
		"files are read later":          {func(c *Config) { c.Credentials.Token.File, c.Credentials.CA.File = "/nowhere/token", "/nowhere/ca" }, ""},
		"a path is a part of it":        {func(c *Config) { c.Server = "https://192.0.2.1/cluster/one" }, ""},
		"a proxy on this machine":       {func(c *Config) { c.Server = "http://127.0.0.1:8001" }, ""},
		"by name":                       {func(c *Config) { c.Server = "http://localhost:8001" }, ""},
		"no server":                     {func(c *Config) { c.Server = "" }, `API server "": not a URL with a host; write https://HOST:PORT`},
		"no scheme":                     {func(c *Config) { c.Server = "192.0.2.1:6443" }, "first path segment in URL cannot contain colon"},
		"a path only":                   {func(c *Config) { c.Server = "/var/run/api" }, "not a URL with a host"},
		"a control character":           {func(c *Config) { c.Server = "https://a\x7f" }, "invalid control character in URL"},
		"another scheme":                {func(c *Config) { c.Server = "ftp://192.0.2.1" }, `the scheme "ftp" is not supported; use https`},
		"a password":                    {func(c *Config) { c.Server = "https://me:secret@192.0.2.1" }, "use a token or a client certificate"},
		"a query":                       {func(c *Config) { c.Server = "https://192.0.2.1?a=b" }, "query"},
		"plain http":                    {func(c *Config) { c.Server = "http://192.0.2.1" }, "http is only for a proxy on this machine"},
		"plain http by a name":          {func(c *Config) { c.Server = "http://api.example" }, "http is only for a proxy on this machine"},
		"a token over http":             {func(c *Config) { c.Server, c.Credentials.Token.File = "http://127.0.0.1:1", "/t" }, "credentials and certificates are not used over http"},
		"authorities over http":         {func(c *Config) { c.Server, c.Credentials.CA.File = "http://127.0.0.1:1", "/t" }, "credentials and certificates are not used over http"},
		"a certificate without its key": {func(c *Config) { c.Credentials.Cert.File = "/c" }, "needs both a certificate and a key"},
		"a key without its certificate": {func(c *Config) { c.Credentials.Key.File = "/k" }, "needs both a certificate and a key"},
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

// Messages of client-go at any level except error are logged for debugging.
func TestQuiet_levels(t *testing.T) {
	t.Parallel()
	l := &strings.Builder{}
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

// close waits for the calls under way. Later calls are refused.
func TestCalls_close(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &calls{}
		if err := c.begin(); err != nil {
			t.Fatal(err)
		}
		closed := false
		go func() {
			c.close()
			closed = true
		}()
		synctest.Wait()
		if closed {
			t.Error("closed before the call had ended")
		}
		if err := c.begin(); err == nil {
			t.Error("a call begins after the client was closed")
		}
		c.end()
		synctest.Wait()
		if !closed {
			t.Error("not closed after the call has ended")
		}
	})
}

// Each of the two clients has a rate limit of its own.
func TestClient_ownRate(t *testing.T) {
	t.Parallel()
	c, err := New(Config{Server: "https://192.0.2.1:6443"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	own, err := c.OwnRate()
	if err != nil {
		t.Fatal(err)
	}
	for range requestsAtOnce {
		c.groups[v1.SchemeGroupVersion].GetRateLimiter().TryAccept()
	}
	if c.groups[v1.SchemeGroupVersion].GetRateLimiter().TryAccept() || !own.groups[v1.SchemeGroupVersion].GetRateLimiter().TryAccept() {
		t.Error("the two have one rate, or none")
	}
	if own.transport != c.transport {
		t.Error("the two have a connection each")
	}
}

func TestClient_Authorities(t *testing.T) {
	t.Parallel()
	pemOf := func(name string) string {
		authority, err := pki.New(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(authority.PEM)
	}
	for name, test := range map[string]struct {
		ca   string
		want int
	}{"of the system": {"", 0}, "one": {pemOf("a"), 1}, "two": {pemOf("a") + pemOf("b"), 2}} {
		c, err := New(Config{Server: "https://127.0.0.1:1", Credentials: Credentials{CA: Material{Data: test.ca}}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		all, err := c.Authorities()
		if err != nil || len(all) != test.want || test.want == 2 && all[0] == all[1] {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
}
