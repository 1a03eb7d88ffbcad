package agent

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/test/cluster/pki"
	"github.com/wardlet/wardlet/test/site"
)

// TestOpen_leavesAFormerCluster starts the agent again and again, with other certificate authorities of
// the API server. Those that are replaced one after the other are of the same cluster.
func TestOpen_leavesAFormerCluster(t *testing.T) {
	t.Parallel()
	n := site.New(t)
	authority := map[string][]byte{}
	for _, name := range []string{"old", "new", "other"} {
		made, err := pki.New(name)
		if err != nil {
			t.Fatal(err)
		}
		authority[name] = made.PEM
	}
	is := func(names ...string) {
		var all []byte
		for _, name := range names {
			all = append(all, authority[name]...)
		}
		n.Write(t, "ca.crt", string(all))
	}
	n.Write(t, "kubeconfig", "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: t}}]\n"+
		"clusters: [{name: c, cluster: {server: https://127.0.0.1:1, certificate-authority: "+n.Path("ca.crt")+"}}]\n")
	n.Cfg.Cluster.Kubeconfig = n.Path("kubeconfig")
	n.Cfg.Sources = append(n.Cfg.Sources, config.Source{Name: config.NameAPI, Kind: config.KindAPI, Path: n.Path("kubeconfig")})
	start := func() (a *Node, log string) {
		t.Helper()
		var text bytes.Buffer
		a, err := Open(n.Cfg, Options{Logger: slog.New(slog.NewTextHandler(&text, nil))})
		if err != nil {
			t.Fatal(err)
		}
		return a, text.String()
	}
	copies := func(a *Node, log string, want int, another bool) {
		t.Helper()
		kept, errs := a.state.Objects().Load()
		if len(kept) != want || errs != nil || strings.Contains(log, "another cluster") != another {
			t.Errorf("%d copies of objects are left, want %d; %v; log\n%s", len(kept), want, errs, log)
		}
	}
	is("old")
	a, log := start()
	if err := a.state.Objects().Put(&state.Object{Key: "secret"}); err != nil {
		t.Fatal(err)
	}
	copies(a, log, 1, false)
	for _, names := range [][]string{{"old", "new"}, {"new"}} { // while it runs
		is(names...)
		a.knowCluster(a.authorities())
	}
	a.close()
	a, log = start()
	copies(a, log, 1, false)
	is("other")
	a.knowCluster(a.authorities()) // this is noticed at the next start
	copies(a, "", 1, false)
	if err := os.Remove(n.Path("ca.crt")); err != nil {
		t.Fatal(err)
	}
	a.close()
	a, log = start()
	copies(a, log, 1, false)
	a.close()
	is("other")
	for another := range 2 {
		a, log = start()
		copies(a, log, 0, another == 0)
		a.close()
	}
}
