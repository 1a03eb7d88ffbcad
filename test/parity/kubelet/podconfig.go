package kubelet

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/config"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
)

// Update is one update that the pod config sends.
type Update = kubetypes.PodUpdate

// PodConfig is a kubelet's pod config with its sources.
type PodConfig struct {
	config  *config.PodConfig
	names   []string
	sources map[string]source
	cancel  context.CancelFunc
}

// source is the input of one source. Its channel cannot be stored here, because the element type is
// private to the package config.
type source struct {
	send func([]*v1.Pod)
	end  func()
}

// New returns a pod config that expects the named sources.
func New(names ...string) *PodConfig {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	k := &PodConfig{
		config:  config.NewPodConfig(&record.FakeRecorder{}, ignoredStartup{}),
		names:   names,
		sources: map[string]source{},
		cancel:  cancel,
	}
	for _, name := range names {
		k.sources[name] = wayIn(k.config.Channel(ctx, name))
	}
	return k
}

func wayIn[U ~struct{ Pods []*v1.Pod }](to chan<- U) source {
	return source{
		send: func(pods []*v1.Pod) { to <- U(struct{ Pods []*v1.Pod }{pods}) },
		end:  func() { close(to) },
	}
}

// Send sends the full content of a source and returns when the source's goroutine has received it.
// The pod config keeps and changes the pods.
func (k *PodConfig) Send(source string, pods []*v1.Pod) { k.sources[source].send(pods) }

// Updates returns the channel of the pod config's updates. It holds 50 updates; the pod config
// blocks while it is full.
func (k *PodConfig) Updates() <-chan Update { return k.config.Updates() }

// Deliver sends the full content of a source, waits until it is merged, and returns the updates
// that follow. The pods are copied.
//
// A source's channel has no buffer, and the goroutine that reads it merges a snapshot before it
// reads the next. So once it has received a second snapshot, the first is merged. The second
// snapshot is one that changes nothing.
func (k *PodConfig) Deliver(source string, pods []*v1.Pod) []Update {
	k.Send(source, copies(pods))
	k.Send(source, copies(settled(pods)))
	var updates []Update
	for {
		select {
		case u := <-k.config.Updates():
			updates = append(updates, u)
		default:
			return updates
		}
	}
}

// settled returns the snapshot that changes nothing after pods has been merged. Of pods with one
// name it has the first, as the pod config does. If some of these share a UID, it has the last,
// because the pod config merged them into one object in turn.
func settled(pods []*v1.Pod) []*v1.Pod {
	names := map[types.NamespacedName]bool{}
	at := map[types.UID]int{}
	var out []*v1.Pod
	for _, p := range pods {
		name := types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
		if names[name] {
			continue
		}
		names[name] = true
		if i, ok := at[p.UID]; ok {
			out[i] = p
			continue
		}
		at[p.UID] = len(out)
		out = append(out, p)
	}
	return out
}

func copies(pods []*v1.Pod) []*v1.Pod {
	out := make([]*v1.Pod, len(pods))
	for i, p := range pods {
		out[i] = p.DeepCopy()
	}
	return out
}

// SeenAll reports whether every source has sent a snapshot.
func (k *PodConfig) SeenAll() bool { return k.config.SeenAllSources(sets.New(k.names...)) }

// Stop terminates the goroutines of the sources. Nothing may be delivered after Stop.
func (k *PodConfig) Stop() {
	k.cancel()
	for _, s := range k.sources {
		s.end()
	}
}

// ignoredStartup ignores the first-seen times of pods from the API server.
type ignoredStartup struct{}

func (ignoredStartup) ObservedPodOnWatch(*v1.Pod, time.Time) {}
