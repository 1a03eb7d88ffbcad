package agent

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/core/object"
	"github.com/wardlet/wardlet/core/pod"
)

// serveClasses returns the objects of a server that has the runtime class "gvisor" with the handler
// "runsc". It counts in lists how often that class was listed.
func serveClasses(t *testing.T, lists *atomic.Int32) *object.Objects {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") != "" {
			return // the end of a watch makes the client list again
		}
		list := nodev1.RuntimeClassList{
			TypeMeta: metav1.TypeMeta{APIVersion: "node.k8s.io/v1", Kind: "RuntimeClassList"}, ListMeta: metav1.ListMeta{ResourceVersion: "7"},
		}
		if r.URL.Query().Get("fieldSelector") == "metadata.name=gvisor" {
			lists.Add(1)
			list.Items = []nodev1.RuntimeClass{{ObjectMeta: metav1.ObjectMeta{Name: "gvisor", ResourceVersion: "6"}, Handler: "runsc"}}
		}
		_ = json.NewEncoder(w).Encode(list)
	}))
	client, err := kube.New(kube.Config{Server: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	objects := object.New(object.Config{Client: client, Changed: func(types.UID) {}, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { objects.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		client.Close()
		server.Close()
	})
	return objects
}

func TestHandler_isOfTheNodeOrOfTheServerByWhereThePodComesFrom(t *testing.T) {
	t.Parallel()
	var lists atomic.Int32
	n := &Node{cfg: config.Default(), objects: serveClasses(t, &lists)}
	n.cfg.Runtime.Handlers = []config.RuntimeHandler{{Class: "kata", Handler: "kata-fc"}}
	alone := &Node{cfg: n.cfg, objects: object.New(object.Config{Now: time.Now})}
	for name, test := range map[string]struct {
		node          *Node
		source, class string
		want          string
	}{
		"a class of the node":                      {n, "static", "kata", "kata-fc"},
		"a class of the server, by a static pod":   {n, "static", "gvisor", `agent.toml has no class "gvisor", and the directory of objects no RuntimeClass; add [[runtime.handler]] with class = "gvisor" and restart`},
		"a class of the server":                    {n, pod.SourceAPI, "gvisor", "runsc"},
		"a class of the node, by the server's pod": {n, pod.SourceAPI, "kata", `the API server has no RuntimeClass "kata"; create it`},
		"a class of a node without a cluster":      {alone, "static", "kata", "kata-fc"},
		"no class of a node without a cluster":     {alone, "static", "gvisor", `agent.toml has no class "gvisor", and`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &v1.Pod{
				ObjectMeta: metav1.ObjectMeta{UID: types.UID(name), Annotations: map[string]string{pod.AnnotationSource: test.source}},
				Spec:       v1.PodSpec{RuntimeClassName: &test.class},
			}
			got, err := test.node.handler(t.Context(), p)
			if err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// noVolumes imitates the volumes of pods that have none.
type noVolumes struct{}

func (noVolumes) Setup(context.Context, *v1.Pod) error { return nil }
func (noVolumes) Mounts(*v1.Pod, *v1.Container, func(string) (string, error)) ([]pod.Mount, error) {
	return nil, nil
}
func (noVolumes) Teardown(context.Context, types.UID) error { return nil }

func TestClassVolumes_watchTheClassBeforeItIsNeeded(t *testing.T) {
	t.Parallel()
	var lists atomic.Int32
	volumes := objectVolumes{noVolumes{}, serveClasses(t, &lists), func(*v1.Pod) error { return nil }}
	for _, p := range []*v1.Pod{
		{ObjectMeta: metav1.ObjectMeta{UID: "of a file", Annotations: map[string]string{pod.AnnotationSource: "static"}}, Spec: v1.PodSpec{RuntimeClassName: new("kata")}},
		{ObjectMeta: metav1.ObjectMeta{UID: "without a class"}},
		{ObjectMeta: metav1.ObjectMeta{UID: "with an empty one"}, Spec: v1.PodSpec{RuntimeClassName: new("")}},
		{ObjectMeta: metav1.ObjectMeta{UID: "with one"}, Spec: v1.PodSpec{RuntimeClassName: new("gvisor")}},
	} {
		if err := volumes.Setup(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(10 * time.Second); lists.Load() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the class is not asked for")
		}
	}
}
