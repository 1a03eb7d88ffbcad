package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wardlet/wardlet/test/conformance/instance"
)

// busybox is the image of containers that run a command.
const busybox = "registry.k8s.io/e2e-test-images/busybox:1.37.0-1"

// make creates a pod in the API.
func (t *turn) make(ctx context.Context, name string, spec v1.PodSpec) error {
	spec.AutomountServiceAccountToken = new(false)
	spec.TerminationGracePeriodSeconds = new(int64(1))
	return t.admin.Do(ctx, http.MethodPost, instance.PodsPath(t.namespace), &v1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       spec,
	})
}

// probed measures the processor time with many pods. Each has an HTTP readiness probe every second
// and an exec liveness probe every ten seconds.
func (t *turn) probed(ctx context.Context) error {
	names := make([]string, t.many)
	for n := range names {
		names[n] = fmt.Sprintf("probed-%03d", n)
		err := t.make(ctx, names[n], v1.PodSpec{Containers: []v1.Container{{
			Name: "main", Image: busybox, Command: []string{"sh", "-c", "trap 'exit 0' TERM; echo ok >/tmp/index.html; httpd -f -p 8080 -h /tmp & wait"},
			ReadinessProbe: &v1.Probe{PeriodSeconds: 1, ProbeHandler: v1.ProbeHandler{HTTPGet: &v1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(8080)}}},
			LivenessProbe:  &v1.Probe{PeriodSeconds: 10, TimeoutSeconds: 10, ProbeHandler: v1.ProbeHandler{Exec: &v1.ExecAction{Command: []string{"true"}}}},
		}}})
		if err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := t.ready(ctx, name, true); err != nil {
			return err
		}
	}
	t.say("%s has %d pods that are probed", t.side, len(names))
	if err := t.settles(ctx); err != nil {
		return err
	}
	perSecond, err := t.perSecond(ctx)
	if err != nil {
		return err
	}
	t.measured.add(probing, t.side, perSecond)
	t.say("%s with %d probed pods takes %.1f ms of processor time a second", t.side, t.many, perSecond/1e6)
	return t.removeAll(ctx, names)
}

// ready waits until the container main of a pod is ready, or not ready if want is false.
func (t *turn) ready(ctx context.Context, name string, want bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return t.pods.Until(ctx, name, func(st *v1.PodStatus) bool {
		at := slices.IndexFunc(st.ContainerStatuses, func(c v1.ContainerStatus) bool { return c.Name == "main" })
		return at >= 0 && st.ContainerStatuses[at].State.Running != nil && st.ContainerStatuses[at].Ready == want
	})
}

func (t *turn) removeAll(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := t.end(ctx, name); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, clearing)
	defer cancel()
	for _, name := range names {
		if err := t.pods.UntilGone(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// asking returns a probe that sends requests to a server of the bench.
func asking(a *answers, name string) *v1.Probe {
	return &v1.Probe{PeriodSeconds: 1, FailureThreshold: 1, ProbeHandler: v1.ProbeHandler{HTTPGet: &v1.HTTPGetAction{
		Host: a.host(), Port: intstr.Parse(a.port()), Path: "/" + name,
	}}}
}

// restarting measures the time from the failure of a liveness probe until the API server shows the
// container as running again.
func (t *turn) restarting(ctx context.Context) error {
	image, err := t.pause()
	if err != nil {
		return err
	}
	a, err := t.answer(ctx)
	if err != nil {
		return err
	}
	var all []float64
	for n := range t.starts {
		took, err := t.restart(ctx, a, "live-"+strconv.Itoa(n), image)
		if err != nil {
			return errors.Join(err, a.close())
		}
		all = append(all, float64(took))
	}
	t.measured.add(restarts, t.side, median(all))
	t.say("%s: a container whose liveness fails runs again after %s (from %s to %s)", t.side, time.Duration(median(all)).Round(time.Millisecond),
		time.Duration(slices.Min(all)).Round(time.Millisecond), time.Duration(slices.Max(all)).Round(time.Millisecond))
	return a.close()
}

func (t *turn) restart(ctx context.Context, a *answers, name, image string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	if err := t.make(ctx, name, v1.PodSpec{Containers: []v1.Container{{Name: "main", Image: image, LivenessProbe: asking(a, name)}}}); err != nil {
		return 0, err
	}
	if err := t.runs(ctx, name); err != nil {
		return 0, err
	}
	at, err := a.turn(ctx, name, true)
	if err != nil {
		return 0, err
	}
	err = t.pods.Until(ctx, name, func(st *v1.PodStatus) bool {
		return len(st.ContainerStatuses) == 1 && st.ContainerStatuses[0].RestartCount == 1 && st.ContainerStatuses[0].State.Running != nil
	})
	if err != nil {
		return 0, err
	}
	took := time.Since(at)
	return took, t.remove(ctx, name)
}

// inits is the number of init containers of a pod.
const inits = 3

// initializing measures how much longer a pod takes to run if it has init containers that exit at
// once.
func (t *turn) initializing(ctx context.Context) error {
	took := map[int][]float64{}
	for n := range 2 * t.starts {
		with := (n % 2) * inits
		name := "init-" + strconv.Itoa(n)
		spec := v1.PodSpec{Containers: []v1.Container{{Name: "main", Image: busybox, Command: []string{"sleep", "1000"}}}}
		for i := range with {
			spec.InitContainers = append(spec.InitContainers, v1.Container{Name: "init-" + strconv.Itoa(i), Image: busybox, Command: []string{"true"}})
		}
		began := time.Now()
		if err := t.make(ctx, name, spec); err != nil {
			return err
		}
		if err := t.runs(ctx, name); err != nil {
			return err
		}
		took[with] = append(took[with], float64(time.Since(began)))
		if err := t.remove(ctx, name); err != nil {
			return err
		}
		if err := wait(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
	each := (median(took[inits]) - median(took[0])) / inits
	t.measured.add(initial, t.side, each)
	t.say("%s: an init container that ends at once makes a pod start %s later", t.side, time.Duration(each).Round(time.Millisecond))
	return nil
}

// turning measures the time from an answer that makes a container ready, or not ready, until the
// API server shows it. Meanwhile the pod's other container waits for its image from a registry that
// never answers.
func (t *turn) turning(ctx context.Context) error {
	a, err := t.answer(ctx)
	if err != nil {
		return err
	}
	hole, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(t.i.Env["NODE_IP"], "0"))
	if err != nil {
		return errors.Join(err, a.close())
	}
	const pods = 10
	image, err := t.pause()
	if err != nil {
		return err
	}
	var names []string
	for n := range pods {
		name := "ready-" + strconv.Itoa(n)
		names = append(names, name)
		err = errors.Join(err, t.make(ctx, name, v1.PodSpec{Containers: []v1.Container{
			{Name: "main", Image: image, ReadinessProbe: asking(a, name)},
			{Name: "pulling", Image: hole.Addr().String() + "/never:1", ImagePullPolicy: v1.PullAlways},
		}}))
	}
	all, failed := t.turns(ctx, a, names)
	if err := errors.Join(err, failed); err != nil {
		return errors.Join(err, a.close(), hole.Close())
	}
	slices.Sort(all)
	p99 := all[int(math.Ceil(0.99*float64(len(all))))-1]
	t.measured.add(flips, t.side, p99)
	t.say("%s: readiness is at the API server after %s (p99 of %d; p50 %s)", t.side, time.Duration(p99).Round(time.Millisecond), len(all),
		time.Duration(median(all)).Round(time.Millisecond))
	return errors.Join(t.removeAll(ctx, names), a.close(), hole.Close())
}

// turns changes the readiness of all pods repeatedly, and returns how long each change took.
func (t *turn) turns(ctx context.Context, a *answers, names []string) (all []float64, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Go(func() {
			failed := t.ready(ctx, name, true)
			for n := 0; n < t.starts && failed == nil; n++ {
				var at time.Time
				if at, failed = a.turn(ctx, name, n%2 == 0); failed == nil {
					failed = t.ready(ctx, name, n%2 == 1)
				}
				mu.Lock()
				all = append(all, float64(time.Since(at)))
				mu.Unlock()
			}
			mu.Lock()
			err = errors.Join(err, failed)
			mu.Unlock()
		})
	}
	wg.Wait()
	return all, err
}

// part returns the measurement of an agent with that name.
func (t *turn) part(name string) func(context.Context) error {
	return map[string]func(context.Context) error{
		"empty": t.empty, "start": t.starting, "burst": t.burst, "idle": t.idle, "rest": t.atRest,
		"probes": t.probed, "liveness": t.restarting, "init": t.initializing, "readiness": t.turning, "objects": t.renewing,
		"join": t.joining, "evict": t.evicting, "stats": t.reading,
	}[strings.TrimSpace(name)]
}
