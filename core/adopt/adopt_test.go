package adopt

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// disk is a Memory.
type disk struct {
	uids map[types.UID]types.UID
	err  error
}

func (d *disk) Load() (map[types.UID]types.UID, error) { return maps.Clone(d.uids), d.err }

func (d *disk) Store(uids map[types.UID]types.UID) error {
	d.uids = maps.Clone(uids)
	return d.err
}

// delivered is a sink that keeps the last documents.
type delivered struct{ all []api.Document }

func (s *delivered) Replace(_ context.Context, all []api.Document) error {
	s.all = all
	return nil
}

func (s *delivered) Apply(_ context.Context, changed []api.Document, _ []string) error {
	s.all = changed
	return nil
}

func (s *delivered) Health(error) {}

func document(id string, p *v1.Pod) api.Document {
	return api.Document{Source: "static", ID: id, Pod: p}
}

// web returns a static pod as a source delivers it.
func web(derived, image string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-n", UID: types.UID(derived), Annotations: map[string]string{pod.AnnotationHash: derived}},
		Spec:       v1.PodSpec{Containers: []v1.Container{{Name: "main", Image: image}}},
	}
}

// started returns a pod that a kubelet has started an hour ago.
func started(uid, name string) status.ObservedPod {
	return status.ObservedPod{
		UID: types.UID(uid), Namespace: "default", Name: name,
		Sandboxes:  []status.ObservedSandbox{{ID: "s", Ready: true, CreatedAt: time.Now().Add(-time.Hour)}},
		Containers: []status.ObservedContainer{{Name: "main", Hash: "of web:1", State: status.StateRunning}},
	}
}

func same(o *status.ObservedContainer, c *v1.Container) bool { return o.Hash == "of "+c.Image }

func adopter(memory Memory, pods ...status.ObservedPod) *Adopter {
	return New(Config{
		ListPods: func(context.Context) ([]status.ObservedPod, error) { return pods, nil },
		Memory:   memory, Same: same, Logger: slog.New(slog.DiscardHandler),
	})
}

func TestAdopter_Sink(t *testing.T) {
	t.Parallel()
	manifest := filepath.Join(t.TempDir(), "web.yaml")
	if err := os.WriteFile(manifest, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(manifest, long, long); err != nil {
		t.Fatal(err)
	}
	edited := filepath.Join(t.TempDir(), "web.yaml")
	if err := os.WriteFile(edited, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	marked := started("kubelet", "web-n")
	marked.Sandboxes[0].Annotations = map[string]string{pod.AnnotationInstallation: "this"}
	fixed := web("derived", "web:1")
	fixed.UID = "fixed"
	for name, test := range map[string]struct {
		running status.ObservedPod
		id      string
		pod     *v1.Pod
		want    types.UID
	}{
		"that a kubelet started":          {started("kubelet", "web-n"), manifest + "#0", web("derived", "web:1"), "kubelet"},
		"from a URL":                      {started("kubelet", "web-n"), "web", web("derived", "web:1"), "kubelet"},
		"of another name":                 {started("kubelet", "other-n"), manifest + "#0", web("derived", "web:1"), "derived"},
		"with another image":              {started("kubelet", "web-n"), manifest + "#0", web("derived", "web:2"), "derived"},
		"edited since":                    {started("kubelet", "web-n"), edited + "#0", web("derived", "web:1"), "derived"},
		"that the agent started":          {marked, manifest + "#0", web("derived", "web:1"), "derived"},
		"whose manifest has a UID":        {started("kubelet", "web-n"), manifest + "#0", fixed, "fixed"},
		"that has no sandbox":             {status.ObservedPod{UID: "kubelet", Namespace: "default", Name: "web-n"}, manifest + "#0", web("derived", "web:1"), "derived"},
		"of which a container is missing": {status.ObservedPod{UID: "kubelet", Namespace: "default", Name: "web-n", Sandboxes: started("", "").Sandboxes}, "web", web("derived", "web:1"), "derived"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := &delivered{}
			given := []api.Document{document(test.id, test.pod), {Source: "static", ID: "bad", Err: &api.DocumentError{}}}
			before := test.pod.UID
			if err := adopter(&disk{}, test.running).Sink(to).Replace(t.Context(), given); err != nil {
				t.Fatal(err)
			}
			if len(to.all) != 2 || to.all[0].Pod.UID != test.want {
				t.Fatalf("delivered %+v, want UID %s", to.all[0].Pod, test.want)
			}
			if test.want == "kubelet" && to.all[0].Pod.Annotations[pod.AnnotationHash] != "kubelet" {
				t.Errorf("annotations %v", to.all[0].Pod.Annotations)
			}
			if test.pod.UID != before {
				t.Error("the source's own pod was changed")
			}
		})
	}
}

// TestAdopter_kubeletWasBack: the UID of an earlier adoption is replaced by that of the pod that a
// kubelet runs now, and stays if only its remains are there.
func TestAdopter_kubeletWasBack(t *testing.T) {
	t.Parallel()
	remains := started("second", "web-n")
	remains.Containers[0].State = status.StateExited
	for want, is := range map[types.UID]status.ObservedPod{"second": started("second", "web-n"), "first": remains} {
		memory, to := &disk{uids: map[types.UID]types.UID{"derived": "first"}}, &delivered{}
		if err := adopter(memory, is).Sink(to).Replace(t.Context(), []api.Document{document("web", web("derived", "web:1"))}); err != nil {
			t.Fatal(err)
		}
		if got := to.all[0].Pod.UID; got != want || memory.uids["derived"] != want {
			t.Errorf("UID %s, stored %s, want %s", got, memory.uids["derived"], want)
		}
	}
}

// The UID stays, whether or not the pod still runs, until the document changes.
func TestAdopter_remembers(t *testing.T) {
	t.Parallel()
	memory, to := &disk{}, &delivered{}
	if err := adopter(memory, started("kubelet", "web-n")).Sink(to).Replace(t.Context(), []api.Document{document("web", web("derived", "web:1"))}); err != nil {
		t.Fatal(err)
	}
	for derived, want := range map[string]types.UID{"derived": "kubelet", "of the next version": "of the next version"} {
		if err := adopter(memory).Sink(to).Apply(t.Context(), []api.Document{document("web", web(derived, "web:1"))}, nil); err != nil {
			t.Fatal(err)
		}
		if got := to.all[0].Pod.UID; got != want {
			t.Errorf("%s: UID %s, want %s", derived, got, want)
		}
	}
}

// Documents wait for a runtime that is away. A disk that does not work stops none.
func TestAdopter_runtimeAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const away = time.Minute
		began := time.Now()
		var log strings.Builder
		a := New(Config{
			ListPods: func(context.Context) ([]status.ObservedPod, error) {
				if time.Since(began) < away {
					return nil, errors.New("away")
				}
				return []status.ObservedPod{started("by-kubelet", "web-n")}, nil
			},
			Memory: &disk{err: errors.New("broken")}, Same: same, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		to := &delivered{}
		ctx, cancel := context.WithTimeout(t.Context(), away/2)
		defer cancel()
		all := []api.Document{document("web", web("derived", "web:1"))}
		if err := a.Sink(to).Replace(ctx, all); !errors.Is(err, context.DeadlineExceeded) || len(to.all) > 0 {
			t.Fatalf("the agent ends meanwhile: %v, %+v", err, to.all)
		}
		if err := a.Sink(to).Replace(t.Context(), all); err != nil || len(to.all) != 1 || to.all[0].Pod.UID != "by-kubelet" {
			t.Fatalf("%v, %+v", err, to.all)
		}
		if waited := time.Since(began); waited != away {
			t.Errorf("waited for %s", waited)
		}
		if strings.Count(log.String(), "static pods wait for the runtime") != 2 {
			t.Error(log.String())
		}
	})
}
