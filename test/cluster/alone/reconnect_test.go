//go:build e2e

package alone

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/test/cluster/network"
	"github.com/wardlet/wardlet/test/conformance/recorder"
)

var many = flag.Int("many", 100, "how many pods there are when requests after a cut are counted")

// TestReconnect counts the requests about each pod after the network was away: none for a pod that
// has not changed, and at most two for one that has.
func TestReconnect(t *testing.T) {
	n := startNode(t)
	const space = "reconnect"
	must(t, n.MakeNamespace(t.Context(), space))
	// The agent speaks to the recorder through the network, and the recorder to the API server.
	must(t, n.StopNode(t.Context()))
	r, err := recorder.Start(n.Instance)
	must(t, err)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	config, err := os.ReadFile(r.Kubeconfig)
	must(t, err)
	_, server, _ := strings.Cut(string(config), `server: "https://`)
	server, _, _ = strings.Cut(server, `"`)
	wire, err := network.New(server)
	must(t, err)
	t.Cleanup(wire.Close)
	via := filepath.Join(n.Dir, "recorded.kubeconfig")
	must(t, os.WriteFile(via, []byte(strings.Replace(string(config), "https://"+server, wire.URL(), 1)), 0o600))
	n.Extra = []string{"NODE_VIA=" + via}
	n.startAlone()

	var yaml strings.Builder
	for i := range *many {
		// Every tenth pod ends its container once while the network is away.
		command := "exec sleep 36000"
		if i%10 == 0 {
			command = "test -e /kept/go || { while ! test -e /node/end; do sleep 1; done; touch /kept/go; exit 1; }; exec sleep 36000"
		}
		fmt.Fprintf(&yaml, `---
apiVersion: v1
kind: Pod
metadata: {name: pod-%d}
spec:
  nodeName: %s
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 0
  tolerations: [{operator: Exists}]
  containers:
  - name: main
    image: %s
    command: [sh, -c, %q]
    volumeMounts: [{name: kept, mountPath: /kept}, {name: node, mountPath: /node}]
  volumes: [{name: kept, emptyDir: {}}, {name: node, hostPath: {path: %s, type: DirectoryOrCreate}}]
`, i, n.Env["NODE_NAME"], image, command, filepath.Join(n.Dir, "signal"))
	}
	n.apply(space, yaml.String())
	n.eventually("start", 5*time.Minute, n.agree)
	for _, c := range []struct {
		name string
		away time.Duration
		// all is true if the cluster changes every pod meanwhile: it sets their condition Ready to False
		// when it counts the node as lost.
		all bool
	}{
		{"30 seconds", 30 * time.Second, false},
		{"two minutes", 2 * time.Minute, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			quiet := func() { // no request about a pod for 20 s
				for last := time.Now(); time.Since(last) < 20*time.Second; time.Sleep(time.Second) {
					if len(perPod(r.Requests())) > 0 {
						last = time.Now()
					}
				}
			}
			quiet()
			began := r.Total()
			wire.Swallow()
			if !c.all {
				must(t, os.WriteFile(filepath.Join(n.Dir, "signal", "end"), nil, 0o644))
			}
			time.Sleep(c.away)
			r.Requests()
			wire.Mend()
			took := n.eventually("back", 2*time.Minute, func() error { return errors.Join(n.ready(), n.agree()) })
			var all []recorder.Request
			for last := time.Now(); time.Since(last) < 20*time.Second; time.Sleep(time.Second) {
				all = append(all, r.Requests()...)
			}
			requests := perPod(all)
			changed, most, sum := 0, 0, 0
			for i := range *many {
				name := fmt.Sprintf("pod-%d", i)
				count := requests[name]
				sum += count
				most = max(most, count)
				is := c.all || i%10 == 0
				if is {
					changed++
				}
				if !is && count > 0 || count > 2 {
					t.Errorf("%s: %d requests (changed: %v)", name, count, is)
				}
			}
			total := r.Total().Sub(began)
			t.Logf("%s away, %d of %d pods changed: both agree after %s; %d requests about pods, at most %d about one; %d requests in all, %d KiB sent and %d KiB received",
				c.name, changed, *many, took.Round(100*time.Millisecond), sum, most, total.Requests, total.BytesIn>>10, total.BytesOut>>10)
		})
	}
	n.kubectl("delete", "namespace", space)
	// The pods' objects are gone before their containers, because of their grace period.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	must(t, n.NothingLeft(ctx))
}

// perPod counts the requests about each pod.
func perPod(all []recorder.Request) map[string]int {
	counts := map[string]int{}
	for i := range all {
		if _, rest, ok := strings.Cut(all[i].Path, "/pods/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			counts[name]++
		}
	}
	return counts
}
