package wasm

import (
	"context"
	"errors"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/pluginlog"
)

const (
	// warmCalls is the most calls of each hook that warm a plugin: calmCalls that
	// show that it can be trusted, and some before them that touch its pages for
	// the first time.
	warmCalls = calmCalls + 4
	// warmFuel is the most fuel that each of them may use.
	warmFuel = 200_000
)

// Warm calls the hooks a few times about pods that do not exist, so that the first
// real questions take no longer than later ones: the pages that a call writes to
// are then present, and the instance is trusted with long slices. The warming calls
// themselves get short slices. Their answers and logs are dropped, and failures are
// ignored: they will show in real calls. Warm returns the cost of the calls in
// units of fuel.
func (p *Plugin) Warm(ctx context.Context, hooks []string) (fuel int64) {
	_, fuel = p.warm(ctx, hooks)
	return fuel
}

// warm does the work of Warm, and returns the number of calls, too.
func (p *Plugin) warm(ctx context.Context, hooks []string) (calls int, fuel int64) {
	ctx = pluginlog.Silence(DryRun(ctx))
	for _, name := range hooks {
		for n := range warmCalls {
			if n > 1 && p.pool.trusted() {
				break
			}
			calls++
			r, m := imaginedQuestion(abi.Hook(name))
			var s said
			err := p.askFor(ctx, "", min(p.fuel, warmFuel), abi.Hook(name), r, m, &s)
			fuel += s.fuel + s.extra
			if failure, ok := errors.AsType[*abi.Failure](err); ok {
				fuel += failure.Fuel
			}
			survived := p.pool.ready()
			p.Reset(ctx)
			if err != nil || !survived {
				break
			}
		}
	}
	return calls, fuel
}

// ready reports whether there is an instance that need not be made.
func (l *pool) ready() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.clean)+len(l.used) > 0
}

// trusted reports whether the instance that is used next is trusted with long
// slices.
func (l *pool) trusted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.clean) > 0 && l.clean[len(l.clean)-1].trusted()
}

// imaginedQuestion returns a question to a hook about pods that do not exist.
func imaginedQuestion(hook abi.Hook) (*abi.Request, *abi.MergeRequest) {
	q := api.Question{Op: api.Add, Pod: imagined("a"), Origin: api.Origin{Source: api.KindHTTP}}
	switch hook {
	case abi.HookMerge:
		m := &abi.MergeRequest{Time: startTime}
		for _, kind := range []string{api.KindFile, api.KindHTTP} {
			m.Candidates = append(m.Candidates, abi.Candidate{Pod: imagined(kind), Origin: api.Origin{Source: kind}, Kind: kind, FirstSeen: startTime})
		}
		return nil, m
	case abi.HookFilter:
		q.Op, q.Old = api.UpdateOp, imagined("b")
	case abi.HookConnect:
		q.Op = api.Connect
		q.Connection = &api.Connection{Kind: api.ConnectExec, Source: api.FromNodeAPI, Container: "web", Command: []string{"/bin/sh"}, User: "imagined"}
	}
	return &abi.Request{Question: &q, Kind: api.KindHTTP, Time: startTime}, nil
}

// imagined returns a pod of usual size with the given image tag.
func imagined(tag string) *v1.Pod {
	resources := v1.ResourceList{v1.ResourceCPU: resource.MustParse("100m"), v1.ResourceMemory: resource.MustParse("64Mi")}
	container := func(name string) v1.Container {
		return v1.Container{
			Name: name, Image: "registry.example/" + name + ":" + tag, Command: []string{"/" + name, "--config", "/etc/" + name},
			Env: []v1.EnvVar{{Name: "NODE", Value: "node"}}, Ports: []v1.ContainerPort{{ContainerPort: 8080}},
			Resources:    v1.ResourceRequirements{Requests: resources, Limits: resources},
			VolumeMounts: []v1.VolumeMount{{Name: "data", MountPath: "/data"}},
		}
	}
	return &v1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "imagined", Namespace: "default", UID: "00000000-0000-0000-0000-000000000000", CreationTimestamp: metav1.Time{Time: startTime},
			Labels: map[string]string{"app": "imagined", "tier": "web"}, Annotations: map[string]string{"example/of": "nothing"},
		},
		Spec: v1.PodSpec{
			Containers: []v1.Container{container("web"), container("sidecar")}, InitContainers: []v1.Container{container("setup")},
			Volumes:      []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}},
			NodeSelector: map[string]string{"kubernetes.io/os": "linux"},
		},
	}
}

// dryRun is the key of contexts of calls about pods that do not exist. Instances
// that such calls break are not charged to any tenant, and such calls get short
// slices.
type dryRun struct{}

// DryRun returns a context for calls about pods that do not exist. What plugins
// log in these calls is logged.
func DryRun(ctx context.Context) context.Context {
	return context.WithValue(ctx, dryRun{}, true)
}

func isDryRun(ctx context.Context) bool { return ctx.Value(dryRun{}) != nil }

// noTenant is the tenant of an instance whose last call was a dry run. No tenant
// can have this name.
const noTenant = "\x00"
