//go:build e2e

package cluster

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/source/apiserver"
	"github.com/wardlet/wardlet/test/cluster/controlplane"
	"github.com/wardlet/wardlet/test/cluster/network"
	"github.com/wardlet/wardlet/test/cluster/pki"
)

// rig is a node's source with its credentials, a network, a server and a sink
// for the source's deliveries.
type rig struct {
	plane *controlplane.Cluster
	net   *network.Network
	// server is the URL that clients use, empty for the one of net.
	server string
	sink   *holder
	// node is the node's name, space a namespace for the test.
	node, space string
	// memory holds the node object for the rig's members.
	memory memory
	// ca, token, cert and key are the source's files. An empty one is not
	// used.
	ca, token, cert, key string
}

// newRig makes a node with a client certificate.
func newRig(t *testing.T, plane *controlplane.Cluster) *rig {
	t.Helper()
	r := bareRig(t, plane)
	dir := filepath.Dir(r.ca)
	r.cert, r.key = filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	r.giveClient(t, plane.Clients)
	return r
}

// bareRig makes a node without credentials.
func bareRig(t *testing.T, plane *controlplane.Cluster) *rig {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	wire, err := network.New(plane.Address())
	must(t, err)
	t.Cleanup(wire.Close)
	r := &rig{
		plane: plane, net: wire, sink: newHolder(t), node: "node-" + name, space: name,
		ca: filepath.Join(t.TempDir(), "ca"),
	}
	put(t, r.ca, plane.Serving.PEM)
	r.addNamespace(t, r.space)
	return r
}

func (r *rig) giveClient(t *testing.T, a *pki.Authority) {
	t.Helper()
	pair, err := a.Client("system:node:"+r.node, "system:nodes")
	must(t, err)
	put(t, r.cert, pair.Cert)
	put(t, r.key, pair.Key)
}

// put writes a file by rename.
func put(t *testing.T, path string, text []byte) {
	t.Helper()
	must(t, os.WriteFile(path+".new", text, 0o600))
	must(t, os.Rename(path+".new", path))
}

// run runs the node's source until the test ends or stop is called.
func (r *rig) run(t *testing.T) (stop func()) {
	t.Helper()
	source, err := apiserver.New(apiserver.Config{
		Name: "api", NodeName: r.node, Client: r.client(t), Sink: r.sink, MaxBackoff: 2 * time.Second, Logger: r.log(t),
	})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- source.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("Run did not end within 10 s")
		}
	})
	t.Cleanup(stop)
	return stop
}

// client returns a client with the node's credentials.
func (r *rig) client(t *testing.T) *kube.Client {
	t.Helper()
	c, err := kube.New(kube.Config{Server: cmp.Or(r.server, r.net.URL()), Logger: r.log(t), Credentials: kube.Credentials{
		CA: kube.Material{File: r.ca}, Token: kube.Material{File: r.token}, Cert: kube.Material{File: r.cert}, Key: kube.Material{File: r.key},
	}})
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

func (r *rig) log(t *testing.T) *slog.Logger {
	t.Helper()
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

// do sends a request to the server as its administrator.
func (r *rig) do(t *testing.T, method, path string, in, out any) {
	t.Helper()
	if err := r.plane.Admin().Do(t.Context(), method, path, in, out); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
}

// addNamespace makes a namespace and its service account, because no
// controller manager runs that would make the account.
func (r *rig) addNamespace(t *testing.T, name string) {
	t.Helper()
	r.do(t, http.MethodPost, "/api/v1/namespaces", &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil)
	r.do(t, http.MethodPost, "/api/v1/namespaces/"+name+"/serviceaccounts",
		&v1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, nil)
}

func (r *rig) pods() string { return "/api/v1/namespaces/" + r.space + "/pods" }

// add makes a pod on the rig's node.
func (r *rig) add(t *testing.T, name string, change ...func(*v1.Pod)) {
	t.Helper()
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PodSpec{
			NodeName: r.node, AutomountServiceAccountToken: new(false),
			Containers: []v1.Container{{Name: "c", Image: "registry.example/" + name + ":1"}},
			Volumes:    []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{HostPath: &v1.HostPathVolumeSource{Path: "/v"}}}},
		},
	}
	for _, f := range change {
		f(p)
	}
	r.do(t, http.MethodPost, r.pods(), p, nil)
}

// label changes a label of a pod.
func (r *rig) label(t *testing.T, name, value string) {
	t.Helper()
	r.do(t, http.MethodPatch, r.pods()+"/"+name, map[string]any{"metadata": map[string]any{"labels": map[string]string{"a": value}}}, nil)
}

// remove begins the deletion of a pod; purge deletes it at once.
func (r *rig) remove(t *testing.T, name string) {
	t.Helper()
	r.do(t, http.MethodDelete, r.pods()+"/"+name, nil, nil)
}

func (r *rig) purge(t *testing.T, name string) {
	t.Helper()
	r.do(t, http.MethodDelete, r.pods()+"/"+name+"?gracePeriodSeconds=0", nil, nil)
}

// listed returns the node's pods as the server lists them.
func (r *rig) listed(t *testing.T) map[string]*v1.Pod {
	t.Helper()
	list := &v1.PodList{}
	r.do(t, http.MethodGet, "/api/v1/pods?fieldSelector=spec.nodeName="+r.node, nil, list)
	all := map[string]*v1.Pod{}
	for i := range list.Items {
		p := &list.Items[i]
		all[p.Namespace+"/"+p.Name] = p
	}
	return all
}

// converges waits until the sink holds what the server lists, and compares
// each valid document with its pod, field by field.
func (r *rig) converges(t *testing.T) {
	t.Helper()
	var listed map[string]*v1.Pod
	eventually(t, "", func() string {
		listed = r.listed(t)
		want := map[string]string{}
		for id, p := range listed {
			want[id] = p.ResourceVersion
		}
		return gocmp.Diff(want, r.sink.versions())
	})
	for id, want := range listed {
		d, ok := r.sink.document(id)
		if !ok || d.Err != nil {
			continue
		}
		want.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		want.ManagedFields = nil
		if want.Annotations == nil {
			want.Annotations = map[string]string{}
		}
		want.Annotations[pod.AnnotationSource] = pod.SourceAPI
		if diff := gocmp.Diff(want, d.Pod); diff != "" {
			t.Errorf("%s (-server +sink):\n%s", id, diff)
		}
	}
	eventually(t, "<nil>", r.sink.lastHealth)
}

// eventually waits until get returns want.
func eventually[T comparable](t *testing.T, want T, get func() T) {
	t.Helper()
	const patience = 90 * time.Second
	deadline := time.Now().Add(patience)
	for {
		got := get()
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %v, want %v", patience, got, want)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// says waits until the source reports an error that contains the words.
func (r *rig) says(t *testing.T, words ...string) {
	t.Helper()
	eventually(t, "", func() string {
		health := r.sink.lastHealth()
		for _, word := range append(words, "API server "+r.net.URL()) {
			if !strings.Contains(health, word) {
				return fmt.Sprintf("health is %s; no %q in it", health, word)
			}
		}
		return ""
	})
}
