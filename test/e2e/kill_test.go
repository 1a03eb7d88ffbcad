//go:build e2e

package e2e

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

// stubbornPod exits on SIGINT, not on SIGTERM. Its preStop hook reports that it is to be stopped.
const stubbornPod = `apiVersion: v1
kind: Pod
metadata:
  name: stubborn
spec:
  hostNetwork: true
  os: {name: linux}
  terminationGracePeriodSeconds: 60
  containers:
  - name: main
    image: registry.example/web:1
    args: [serve, -port, "0", -ignore-term]
    lifecycle:
      stopSignal: SIGINT
      preStop: {httpGet: {host: 127.0.0.1, port: PORT, path: /NAME}}
`

func TestKill_hooksAndSignals(t *testing.T) {
	t.Parallel()
	var stopped, orphaned atomic.Int32
	listener := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/stopped":
			stopped.Add(1)
		case "/orphaned":
			orphaned.Add(1)
		}
	}))
	t.Cleanup(listener.Close)
	at, err := url.Parse(listener.URL)
	if err != nil {
		t.Fatal(err)
	}
	n := startNode(t)
	a := newAgent(t, n, "kills")
	a.start(t)
	manifest := func(name string) string {
		return strings.NewReplacer("PORT", at.Port(), "NAME", name).Replace(stubbornPod)
	}
	a.manifest(t, "stubborn.yaml", manifest("stopped"))
	p := a.running(t, "stubborn")["stubborn"]
	if signal := p.Status.ContainerStatuses[0].StopSignal; signal == nil || *signal != v1.SIGINT {
		t.Errorf("the status names the signal %v", signal)
	}
	began := time.Now()
	a.remove(t, "stubborn.yaml")
	a.nothingLeft(t, n)
	if took := time.Since(began); took > 45*time.Second || stopped.Load() != 1 {
		t.Errorf("it has ended after %s and %d hooks", took, stopped.Load())
	}

	a.manifest(t, "stubborn.yaml", manifest("orphaned"))
	a.running(t, "stubborn")
	a.kill()
	a.remove(t, "stubborn.yaml")
	a.forget(t) // else the state still has the pod
	a.start(t)
	eventually(t, "the hook of the pod is carried out that only the runtime knows", func(context.Context) error {
		if orphaned.Load() == 0 {
			return errors.New("no hook")
		}
		return nil
	})
	a.nothingLeft(t, n)
	a.stop(t)
}
