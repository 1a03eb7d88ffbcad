//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/privateruntime"
)

// brokenRegistry forwards requests to a registry. Until it is mended, it changes the answers for
// the repository "pull".
type brokenRegistry struct {
	proxy *httputil.ReverseProxy
	// status is the status of its answers; with 0 it sends half of the registry's answer. Once
	// mended is true, it changes no answer.
	status int
	mended atomic.Bool
}

func (b *brokenRegistry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if b.status != 0 && !b.mended.Load() && strings.HasPrefix(r.URL.Path, "/v2/pull/") {
		http.Error(w, http.StatusText(b.status), b.status)
		return
	}
	b.proxy.ServeHTTP(w, r)
}

// halve cuts the answer off in the middle, as a broken connection does.
func (b *brokenRegistry) halve(response *http.Response) error {
	if b.status != 0 || b.mended.Load() || response.Request.Method != http.MethodGet || !strings.HasPrefix(response.Request.URL.Path, "/v2/pull/") {
		return nil
	}
	whole, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	response.Body = io.NopCloser(bytes.NewReader(whole[:len(whole)/2]))
	return nil
}

// startBroken serves a registry that is broken, and returns its HOST:PORT.
func startBroken(t *testing.T, n node, behind *privateruntime.Registry, status int) (*brokenRegistry, string) {
	t.Helper()
	b := &brokenRegistry{status: status, proxy: httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: behind.Address()})}
	b.proxy.ModifyResponse = b.halve
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://")
	if err := n.SetRegistry(address); err != nil {
		t.Fatal(err)
	}
	return b, address
}

// TestPull_brokenRegistries: an event says what a registry answered, or that it did not, and what
// to do. Other pulls go on, and the pod starts once the registry is mended.
func TestPull_brokenRegistries(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	registry := startRegistry(t, n, privateruntime.Login{})
	a := newAgent(t, n, "broken")
	a.start(t)
	pulling := func(name, image string) string {
		return strings.Replace(hostPod(name, "sleep"), "registry.example/web:1", image+"\n    imagePullPolicy: Always", 1)
	}
	broken := map[string]struct {
		status int
		says   string
	}{
		"missing": {http.StatusNotFound, "the registry does not have it: correct the name or tag, or push the image"},
		"busy":    {http.StatusTooManyRequests, "the registry limits how much is pulled: wait, or give it credentials"},
		"half":    {0, "the registry sent only a part of the image, or a broken one; the pull is tried again"},
	}
	var registries []*brokenRegistry
	for name, of := range broken {
		b, address := startBroken(t, n, registry, of.status)
		registries = append(registries, b)
		a.manifest(t, name+".yaml", pulling(name, address+"/pull/web:1"))
	}
	for name, of := range broken {
		a.event(t, name, "Failed", "Pull image", of.says)
	}
	a.manifest(t, "good.yaml", pulling("good", registry.Image("web:2")))
	a.running(t, "good")
	for _, b := range registries {
		b.mended.Store(true)
	}
	a.running(t, "missing", "busy", "half", "good")
	a.remove(t, "missing.yaml", "busy.yaml", "half.yaml", "good.yaml")
	a.nothingLeft(t, n)
}

// TestPull_ontoAFullDisk: the pod's status says that the disk is full and running pods go on. The
// pod starts when there is room.
func TestPull_ontoAFullDisk(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	registry := startRegistry(t, n, privateruntime.Login{})
	a := newAgent(t, n, "full")
	a.start(t)
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	before := container(a.running(t, "web")["web"])

	ingest := filepath.Join(n.Dir(), "root", "io.containerd.content.v1.content", "ingest")
	if err := unix.Mount("tmpfs", ingest, "tmpfs", 0, "size=4k"); err != nil {
		t.Fatal(err)
	}
	room := func() {
		// The runtime may be writing there.
		eventually(t, "unmount "+ingest, func(context.Context) error { return unix.Unmount(ingest, 0) })
	}
	defer func() {
		if room != nil {
			room()
		}
	}()
	a.manifest(t, "late.yaml", strings.Replace(hostPod("late", "sleep"), "registry.example/web:1", registry.Image("web:2")+"\n    imagePullPolicy: Always", 1))
	a.event(t, "late", "Failed", "no space left on device", "the disk of the images is full: free some of it; the pull is tried again")
	a.pod(t, "late", func(p *v1.Pod) error {
		w := p.Status.ContainerStatuses[0].State.Waiting
		if w == nil || w.Reason != "ImagePullBackOff" && w.Reason != "ErrImagePull" {
			return fmt.Errorf("its container is %+v", p.Status.ContainerStatuses[0].State)
		}
		return nil
	})
	room()
	room = nil
	if after := container(a.running(t, "late", "web")["web"]); after != before {
		t.Errorf("the pod that ran is another container: %s, before %s", after, before)
	}
	a.remove(t, "late.yaml", "web.yaml")
	a.nothingLeft(t, n)
}
