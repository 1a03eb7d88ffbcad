//go:build e2e

package cluster

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/wardlet/wardlet/core/clusterset"
)

// told is a log that closes its channel with the message that a ConfigMap does not exist.
type told struct{ missing chan struct{} }

// Write implements io.Writer.
func (l told) Write(text []byte) (int, error) {
	if strings.Contains(string(text), "it does not exist") {
		select {
		case <-l.missing:
		default:
			close(l.missing)
		}
	}
	return len(text), nil
}

// A node reads the policies of its cluster with the rights of policies/cluster/rbac.yaml, which cover
// no other ConfigMap, and keeps them while the server is away.
func TestClusterSet(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	const maps = "/api/v1/namespaces/kube-system/configmaps"
	set := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "wardlet-policies"}, Data: map[string]string{"a.toml": "1"}}
	r.do(t, http.MethodPost, maps, set, set)
	other := set.DeepCopy()
	other.ResourceVersion, other.UID, other.Name = "", "", "other"
	r.do(t, http.MethodPost, maps, other, nil)

	dir := filepath.Join(t.TempDir(), "set", "current")
	changes := make(chan struct{}, 100)
	// missing is closed when the log says that the ConfigMap does not exist.
	missing := make(chan struct{})
	run := func(name, dir string) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		s := clusterset.New(clusterset.Config{
			Client: r.client(t), Namespace: "kube-system", Name: name, Dir: dir, Logger: slog.New(slog.NewTextHandler(told{missing}, nil)), Changed: func(context.Context) { changes <- struct{}{} },
		})
		running.Go(func() { s.Run(ctx) })
		stop = sync.OnceFunc(func() { cancel(); running.Wait() })
		t.Cleanup(stop)
		return stop
	}
	content := func() string {
		text, err := os.ReadFile(filepath.Join(dir, "a.toml"))
		if err != nil {
			return ""
		}
		return string(text)
	}
	stop := run("wardlet-policies", dir)
	err := r.client(t).Request(http.MethodGet, v1.SchemeGroupVersion).Namespace("kube-system").Resource("configmaps").Name(set.Name).Do(t.Context()).Error()
	if !apierrors.IsForbidden(err) {
		t.Errorf("without the rights: %v", err)
	}
	text, err := os.ReadFile("../../policies/cluster/rbac.yaml")
	must(t, err)
	for doc := range strings.SplitSeq(string(text), "\n---\n") {
		var object struct {
			Kind string `json:"kind"`
		}
		must(t, yaml.Unmarshal([]byte(doc), &object))
		body, err := yaml.YAMLToJSON([]byte(doc))
		must(t, err)
		r.do(t, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/"+strings.ToLower(object.Kind)+"s", json.RawMessage(body), nil)
	}
	eventually(t, "1", content)
	stopOther := run("other", filepath.Join(t.TempDir(), "other", "current"))

	set.Data["a.toml"] = "2"
	r.do(t, http.MethodPut, maps+"/wardlet-policies", set, set)
	eventually(t, "2", content)
	stop()
	r.do(t, http.MethodDelete, maps+"/wardlet-policies", nil, nil)
	r.net.Cut()
	stop = run("wardlet-policies", dir)
	<-missing
	stop()
	stopOther()
	if got := content(); got != "2" {
		t.Errorf("after the deletion: %q", got)
	}
	if n := len(changes); n != 2 {
		t.Errorf("%d changes", n)
	}
}
