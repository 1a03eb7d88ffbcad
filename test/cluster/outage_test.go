//go:build e2e

package cluster

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// change makes one change of each kind: it labels a pod, begins to delete one, removes one,
// replaces one and adds one.
func (r *rig) change(t *testing.T) {
	t.Helper()
	r.label(t, "changed", "2")
	r.remove(t, "ending")
	r.purge(t, "removed")
	r.purge(t, "replaced")
	r.add(t, "replaced")
	r.add(t, "new")
}

// before makes the pods that change changes, and one that stays the same.
func (r *rig) before(t *testing.T) {
	t.Helper()
	for _, name := range []string{"same", "changed", "ending", "removed", "replaced"} {
		r.add(t, name)
	}
}

// TestCompaction: the version from which to continue is gone, from etcd or from
// the server's cache. The source then lists everything again and loses nothing.
func TestCompaction(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"etcd": {"--watch-cache=false"}, "cache": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, own(t, nil, flags...))
			r.before(t)
			r.run(t)
			r.converges(t)
			var last string
			for _, version := range r.sink.versions() {
				if len(version) > len(last) || len(version) == len(last) && version > last {
					last = version
				}
			}
			r.net.Refuse()
			r.change(t)
			_, err := r.plane.Compact(t.Context())
			must(t, err)
			// The cache would still have the version; after a restart of the server it does not.
			r.plane.StopServer(true)
			must(t, r.plane.StartServer(t.Context()))
			if got := r.watchFrom(t, last); !strings.Contains(got, "too old") && !strings.Contains(got, "compacted") {
				t.Fatalf("a watch from version %s is answered with %s", last, got)
			}
			held := r.sink.deliveries()
			if len(held) != 1 {
				t.Errorf("delivered while the network was cut: %q", held[1:])
			}
			r.net.Mend()
			r.converges(t)
			if n := r.sink.snapshots(); n != 2 {
				t.Errorf("%d snapshots, want one at the start and one after the version was too old", n)
			}
			r.label(t, "same", "3")
			r.converges(t)
		})
	}
}

// watchFrom returns a short form of the server's answer to a watch from a version.
func (r *rig) watchFrom(t *testing.T, version string) string {
	t.Helper()
	var event struct {
		Object struct{ Message string }
	}
	err := r.plane.Admin().Do(t.Context(), http.MethodGet,
		"/api/v1/pods?watch=true&timeoutSeconds=1&fieldSelector=spec.nodeName="+r.node+"&resourceVersion="+version, nil, &event)
	if err != nil {
		return err.Error()
	}
	return event.Object.Message
}

// TestServerRestart: a server stops, gracefully or not, and comes back
// on the same port. Changes before the source has reconnected are not lost.
func TestServerRestart(t *testing.T) {
	t.Parallel()
	r := newRig(t, own(t, nil))
	r.before(t)
	r.run(t)
	r.converges(t)
	for _, kill := range []bool{false, true} {
		before := len(r.sink.deliveries())
		r.plane.StopServer(kill)
		r.says(t, "connection")
		r.net.Refuse()
		must(t, r.plane.StartServer(t.Context()))
		if kill {
			r.label(t, "same", "killed")
		} else {
			r.change(t)
		}
		if got := r.sink.deliveries(); len(got) != before {
			t.Errorf("delivered during the outage: %q", got[before:])
		}
		r.net.Mend()
		r.converges(t)
	}
}

// TestServerRestored: etcd comes back empty, so the server is that of another cluster. The pods
// stay, and the source reports the reason. A source that starts afterwards belongs to the new
// cluster.
func TestServerRestored(t *testing.T) {
	t.Parallel()
	r := newRig(t, own(t, nil))
	r.before(t)
	client := r.client(t)
	eventually(t, true, func() bool {
		_, err := client.ClusterUID(t.Context())
		return err == nil // a new server makes the UID a moment after the server is ready
	})
	stop := r.run(t)
	r.converges(t)
	before := r.sink.versions()
	r.plane.StopServer(true)
	must(t, r.plane.StopEtcd(true))
	must(t, r.plane.StartEtcd(t.Context()))
	must(t, r.plane.StartServer(t.Context()))
	eventually(t, true, func() bool {
		return strings.Contains(r.sink.lastHealth(), "is another cluster: its service default/kubernetes has the UID")
	})
	r.addNamespace(t, r.space)
	r.add(t, "new")
	time.Sleep(3 * time.Second)
	if diff := cmp.Diff(before, r.sink.versions()); diff != "" {
		t.Errorf("pods of a node whose server is another cluster's (-want +got):\n%s", diff)
	}
	stop()
	r.run(t)
	r.converges(t)
	if n := len(r.sink.versions()); n != 1 {
		t.Errorf("%d pods of a server that has one", n)
	}
}

// TestEtcdOutage: a server without storage keeps the connection and answers
// with errors.
func TestEtcdOutage(t *testing.T) {
	t.Parallel()
	r := newRig(t, own(t, nil))
	r.before(t)
	r.run(t)
	r.converges(t)
	must(t, r.plane.StopEtcd(false))
	r.net.Cut()
	must(t, r.plane.StartEtcd(t.Context()))
	eventually(t, nil, func() error { return r.plane.Admin().Do(t.Context(), http.MethodGet, "/readyz", nil, nil) })
	r.change(t)
	r.converges(t)
	for _, d := range r.sink.deliveries() {
		if d == "= 0" {
			t.Errorf("an empty snapshot: %q", r.sink.deliveries())
		}
	}
}

// TestNetworkCut: no bytes arrive any more, but no error either. The source must notice this within
// its time limit, and recover when the network is back.
func TestNetworkCut(t *testing.T) {
	t.Parallel()
	// This is quietTime plus pingTimeout of the source, with a margin for a busy machine.
	const promised = 25*time.Second + 10*time.Second
	r := newRig(t, shared(t))
	r.before(t)
	r.run(t)
	r.converges(t)
	r.net.Swallow()
	began := time.Now()
	r.change(t)
	r.says(t, "check the network between this node and it")
	if took := time.Since(began); took > promised {
		t.Errorf("noticed after %s", took)
	} else {
		t.Logf("noticed after %s", took.Round(time.Second))
	}
	if got := r.sink.deliveries(); len(got) != 1 {
		t.Errorf("delivered while the network was cut: %q", got[1:])
	}
	r.net.Mend()
	began = time.Now()
	r.converges(t)
	t.Logf("made good %s after the network was back", time.Since(began).Round(time.Second))
}

// TestConnectionsCut: closing connections again and again while pods
// change loses nothing.
func TestConnectionsCut(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	r.before(t)
	r.run(t)
	for range 10 {
		r.net.Cut()
		r.label(t, "same", time.Now().Format("x150405.000000000"))
		r.add(t, "passing")
		r.net.Cut()
		r.purge(t, "passing")
	}
	r.change(t)
	r.converges(t)
}
