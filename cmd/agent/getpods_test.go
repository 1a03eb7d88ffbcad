package main

import (
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/cmd/agent/internal/clitest"
)

func crashing(p *v1.Pod) {
	st := &p.Status.ContainerStatuses[0]
	st.Ready, st.RestartCount = false, 3
	st.State = v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	st.LastTerminationState.Terminated = &v1.ContainerStateTerminated{
		ExitCode: 1, FinishedAt: metav1.NewTime(noon.Add(-2 * time.Minute)),
	}
}

func pending(p *v1.Pod) { p.Status = v1.PodStatus{Phase: v1.PodPending} }

func terminating(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon} }

func created(p *v1.Pod) { p.CreationTimestamp = metav1.NewTime(noon.Add(-26 * time.Hour)) }

func somePods() []v1.Pod {
	return []v1.Pod{
		clitest.Pod("web", "shop-edge-1", created),
		clitest.Pod("web", "cart-edge-1", crashing),
		clitest.Pod("default", "late-edge-1", pending),
		clitest.Pod("kube-system", "dns-edge-1", terminating),
	}
}

func TestGetPods(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"get-pods":                  {"pods"},
		"get-pods-wide":             {"pods", "-o", "wide"},
		"get-pods-namespace":        {"po", "-n", "web"},
		"get-pods-namespace-wide":   {"po", "-n", "web", "-o", "wide"},
		"get-pods-all":              {"pods", "-n", "web", "-A"},
		"get-pods-empty-namespace":  {"pods", "-n", "none"},
		"get-pods-named":            {"pod", "shop-edge-1", "dns-edge-1"},
		"get-pods-some-not-found":   {"pod", "shop-edge-1", "shop-edge-2", "shop-edge-3"},
		"get-pods-json":             {"pod", "shop-edge-1", "-o", "json"},
		"get-pods-yaml-with-env":    {"pod", "shop-edge-1", "-o", "yaml", "--show-env"},
		"get-pods-yaml-list":        {"pods", "-n", "web", "-o", "yaml"},
		"get-pods-json-none":        {"pods", "-n", "none", "-o", "json"},
		"get-pods-no-headers":       {"pods", "--no-headers"},
		"get-pods-name":             {"pods", "-o", "name"},
		"get-pods-name-named":       {"pod", "shop-edge-1", "none", "-o", "name"},
		"get-pods-name-none":        {"pods", "-n", "none", "-o", "name"},
		"get-pods-json-of-a-no-pod": {"pods", "none", "-o", "json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{pods: [][]v1.Pod{somePods()}})
			golden(t, name, wardlet(t.Context(), append([]string{"get", "--socket", socket}, args...)...))
		})
	}
}

func TestWatchPrintsAPodWheneverItHasChanged(t *testing.T) {
	t.Parallel()
	shop, cart := clitest.Pod("web", "shop", created), clitest.Pod("web", "cart-with-a-long-name", crashing)
	// The row does not change, but kubectl prints it again.
	other := clitest.Pod("web", "shop", created)
	other.Labels = map[string]string{"a": "b"}
	for name, test := range map[string]struct {
		args    []string
		answers [][]v1.Pod
		// The command is stopped when its output contains the text until as often as times says.
		until string
		times int
	}{
		"watch-pods": {
			[]string{"pods", "-w"},
			[][]v1.Pod{{shop}, {shop}, {shop, cart}, {other, cart}, {cart}, {cart}, {cart, clitest.Pod("web", "shop", pending)}},
			"Pending", 1,
		},
		"watch-pods-from-none": {
			[]string{"pods", "-w"},
			[][]v1.Pod{{}, {}, {shop}, {shop}, {shop, cart}},
			"cart", 1,
		},
		"watch-pods-named": {
			[]string{"pods", "-w", "shop"},
			[][]v1.Pod{{shop, cart}, {shop}, {clitest.Pod("web", "shop", crashing)}, {}, {cart}},
			"3 (2m ago)", 2,
		},
		"watch-pods-namespace-wide": {
			[]string{"pods", "-w", "-n", "web", "-o", "wide"},
			[][]v1.Pod{{shop, clitest.Pod("default", "late")}, {shop}, {shop, cart, clitest.Pod("default", "late")}},
			"cart", 1,
		},
		"watch-pods-no-headers": {
			[]string{"pods", "-w", "--no-headers"},
			[][]v1.Pod{{}, {}, {shop}, {shop}, {shop, cart}},
			"cart", 1,
		},
		"watch-pods-name": {
			[]string{"pods", "-w", "-o", "name"},
			[][]v1.Pod{{shop}, {shop}, {shop, cart}, {cart}, {cart, clitest.Pod("web", "shop", pending)}},
			"/shop", 3,
		},
		"watch-pods-json": {
			[]string{"pods", "-w", "shop", "-o", "json"},
			[][]v1.Pod{{shop}, {shop}, {}, {clitest.Pod("web", "shop", pending)}},
			`"Pending"`, 1,
		},
		"watch-pods-yaml": {
			[]string{"pods", "-w", "-o", "yaml"},
			[][]v1.Pod{{clitest.Pod("web", "early", pending)}, {clitest.Pod("web", "early", pending), clitest.Pod("web", "shop", pending)}},
			"name: shop", 1,
		},
		"watch-pods-yaml-with-env": {
			[]string{"pods", "-w", "-o", "yaml", "--show-env"},
			[][]v1.Pod{{clitest.Pod("web", "shop", pending)}},
			"name: shop", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{pods: test.answers, foreign: 2})
			golden(t, name, wardletUntil(t, test.until, test.times, append([]string{"get", "--socket", socket}, test.args...)...))
		})
	}
}

func TestWatchOfAPodThatIsNotThereFails(t *testing.T) {
	t.Parallel()
	socket, _ := serve(t, &knowledge{pods: [][]v1.Pod{{clitest.Pod("web", "shop")}}})
	golden(t, "watch-pods-not-found", wardlet(t.Context(), "get", "pods", "-w", "shop", "none", "--socket", socket))
}

func TestWatchEndsWhenTheAgentDoes(t *testing.T) {
	t.Parallel()
	socket, stop := serve(t, &knowledge{pods: [][]v1.Pod{{clitest.Pod("web", "shop")}}})
	stopping := sync.OnceFunc(stop)
	var stopped sync.WaitGroup
	defer stopped.Wait()
	got := wardletTelling(t.Context(), func(out string) {
		if strings.Contains(out, "shop") {
			stopped.Go(stopping)
		}
	}, "get", "pods", "-w", "--socket", socket)
	golden(t, "watch-pods-agent-ends", got, socket, "SOCKET")
}

func TestWatchWithoutAnAgentFails(t *testing.T) {
	t.Parallel()
	got := wardlet(t.Context(), "get", "pods", "-w", "--socket", "/nowhere/w.sock")
	golden(t, "watch-pods-no-agent", got)
}
