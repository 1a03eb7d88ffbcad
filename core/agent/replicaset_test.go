package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/state"
)

// replicaSet stands in for a controller that makes a new pod as soon as one of
// its own has failed.
type replicaSet struct {
	t    *testing.T
	sink *mux.Sink
	// most limits the pods that it creates. Without a delay it would create pods without end, and
	// no time would pass.
	most int
	made int
}

// create makes one more pod, bound to this node, at its API server.
func (r *replicaSet) create() {
	r.t.Helper()
	if r.made == r.most {
		return
	}
	r.made++
	name := fmt.Sprint("web-", r.made)
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID(name), Annotations: map[string]string{pod.AnnotationSource: pod.SourceAPI},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "rs-1", Controller: new(true)}},
		},
		Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "registry.example/web:1"}}},
	}
	if err := r.sink.Apply(r.t.Context(), []api.Document{{Source: pod.SourceAPI, ID: "shop/" + name, Version: name, Pod: p}}, nil); err != nil {
		r.t.Error(err)
	}
}

// follow creates a pod for each pod that the node denies, for a given time. It returns the number
// of pods created.
func (r *replicaSet) follow(updates <-chan api.Update, during time.Duration) int {
	r.t.Helper()
	end := time.After(during)
	for {
		select {
		case u := <-updates:
			for _, c := range u.Changes {
				if c.Op == api.Add && c.Verdict != nil && c.Verdict.Answer == api.Deny {
					r.create()
				}
			}
		case <-end:
			return r.made
		}
	}
}

func TestAReplicaSetWhosePodsAreDeniedMakesAtMostTwelveInTenMinutes(t *testing.T) {
	t.Parallel()
	const most = 50
	for _, tc := range []struct {
		name        string
		replicas    int
		atOnce      bool
		least, most int
	}{
		{name: "one replica", replicas: 1, least: 5, most: 12},
		{name: "three replicas", replicas: 3, least: 5, most: 12},
		{name: "one replica where each denial counts at once", replicas: 1, atOnce: true, least: most, most: most},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "state")
			synctest.Test(t, func(t *testing.T) {
				log := slog.New(slog.DiscardHandler)
				disk, err := state.Open(dir, log)
				if err != nil {
					t.Fatal(err)
				}
				defer disk.Close()
				plane := policy.New(policy.Config{
					DefaultVerdict: api.Deny, DenyAtOnce: tc.atOnce, Sources: []string{pod.SourceAPI},
					Kinds: map[string]string{pod.SourceAPI: config.KindAPI}, Node: "edge", Logger: log, Now: time.Now, Evaluators: 1,
				})
				m := mux.New(mux.Config{
					Sources: []mux.Source{{Name: pod.SourceAPI, Kind: config.KindAPI}}, Documents: disk.Documents(), Gate: plane,
					Jitter: parts.Jitter, Logger: log, Now: time.Now,
				})
				ctx, cancel := context.WithCancel(t.Context())
				var parts sync.WaitGroup
				for _, run := range []func(context.Context) error{plane.Run, m.Run} {
					parts.Go(func() {
						if err := run(ctx); !errors.Is(err, context.Canceled) {
							t.Errorf("ended with %v", err)
						}
					})
				}
				defer parts.Wait()
				defer cancel()

				sink, err := m.Sink(pod.SourceAPI)
				if err != nil {
					t.Fatal(err)
				}
				rs := &replicaSet{t: t, sink: sink, most: most}
				for range tc.replicas {
					rs.create()
				}
				made := rs.follow(m.Updates(), 10*time.Minute)
				t.Logf("%d pods in 10 minutes", made)
				if made < tc.least || made > tc.most {
					t.Errorf("%d pods in 10 minutes, want %d to %d", made, tc.least, tc.most)
				}
			})
		})
	}
}
