//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/test/fakecri"
)

// saysNode sets the [node] table of the agent's configuration, in place of any earlier
// one.
func (a *agent) saysNode(t *testing.T, text string) {
	t.Helper()
	config, err := os.ReadFile(a.ConfigFile())
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(config), "[node]\n")
	a.write(t, a.ConfigFile(), before+"[node]\n"+text)
}

// asking returns a pod that only sleeps, with additional fields in its container.
func asking(name, more string) string {
	return strings.Replace(hostPod(name, "sleep"), "    args:", "    "+more+"\n    args:", 1)
}

// onPort returns a pod whose server uses a port of the node.
func onPort(name string, port int) string {
	return strings.Replace(webPod(name), "    resources: {}\n", fmt.Sprintf("    ports: [{containerPort: 8080, hostPort: %d}]\n", port), 1)
}

// rejected checks that a pod waits for room, with these words in its message.
func rejected(reason string, words ...string) func(*v1.Pod) error {
	return func(p *v1.Pod) error {
		if p.Status.Phase != v1.PodPending || p.Status.Reason != reason || len(p.Status.ContainerStatuses) > 0 {
			return fmt.Errorf("phase %s, reason %q, message %q; want Pending with %s", p.Status.Phase, p.Status.Reason, p.Status.Message, reason)
		}
		return contains(p.Status.Message, append(words, "Pod was rejected for now: ")...)
	}
}

// event waits for an event about a pod with this reason, and returns how often the event
// occurred.
func (a *agent) event(t *testing.T, name, reason string, words ...string) (count int) {
	t.Helper()
	eventually(t, "event "+reason+" about "+name, func(ctx context.Context) error {
		var events []api.Event
		if err := a.API.Get(ctx, "/v1/events", &events); err != nil {
			return err
		}
		events = slices.DeleteFunc(events, func(e api.Event) bool { return e.Name != name+"-"+a.name || e.Reason != reason })
		if len(events) == 0 {
			return errors.New("there is none")
		}
		for i := range events {
			count += events[i].Count
		}
		return contains(events[0].Type+" "+events[0].Message, words...)
	})
	return count
}

func TestAPodForWhichTheNodeHasNoMemoryIsRejected(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "small")
	a.start(t)
	a.manifest(t, "big.yaml", asking("big", "resources: {requests: {memory: 1Pi}}"))
	a.pod(t, "big", rejected("OutOfmemory", "Node didn't have enough resource: memory, requested: 1125899906842624, used: 0, capacity: "))
	a.event(t, "big", "OutOfmemory", "Warning ", "Node didn't have enough resource: memory")
	a.says(t, "get pods", "big-small", "OutOfmemory", "0/1")
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	a.running(t, "web")
	if made, err := n.marked(t.Context(), a.name); err != nil || made != 2 {
		t.Errorf("%d sandboxes and containers, %v; want those of the pod that fits", made, err)
	}
	a.remove(t, "big.yaml", "web.yaml")
	a.nothingLeft(t, n)
}

func TestOfTwoPodsWithOnePortTheSecondStartsWhenTheFirstIsGone(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "port")
	a.start(t)
	port := freePort(t)
	url := fmt.Sprintf("http://127.0.0.1:%d/", port)
	a.manifest(t, "first.yaml", onPort("first", port))
	before := container(a.running(t, "first")["first"])
	a.manifest(t, "second.yaml", onPort("second", port))
	a.pod(t, "second", rejected("NodePorts", "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"))
	a.settled(t)
	if times := a.event(t, "second", "NodePorts"); times != 1 {
		t.Errorf("%d events, want one", times)
	}
	// An edit of the pod that has the port does not conflict with the pod itself.
	a.manifest(t, "first.yaml", strings.Replace(onPort("first", port), "    run: first\n", "    run: edited\n", 1))
	a.pod(t, "first", func(p *v1.Pod) error {
		if !ready(*p) || container(*p) == before {
			return fmt.Errorf("%s: %+v", p.Status.Phase, p.Status.ContainerStatuses)
		}
		return nil
	})
	a.pod(t, "second", rejected("NodePorts"))
	answers(t, url, "hello from first-port\n")

	before = container(a.running(t, "first")["first"])
	a.kill()
	a.start(t)
	a.pod(t, "second", rejected("NodePorts"))
	if after := container(a.running(t, "first")["first"]); after != before {
		t.Errorf("container %s, after a restart of the agent %s", before, after)
	}
	a.remove(t, "first.yaml")
	second := a.running(t, "second")["second"]
	if second.Status.Reason != "" || second.Status.Message != "" {
		t.Errorf("it still says %q: %q", second.Status.Reason, second.Status.Message)
	}
	answers(t, url, "hello from second-port\n")
	a.remove(t, "second.yaml")
	a.nothingLeft(t, n)
}

func TestARestartRejectsNothingThatRuns(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "stays")
	a.saysNode(t, "labels = [\"site=north\"]\n")
	a.start(t)
	for _, name := range []string{"one", "two"} {
		a.manifest(t, name+".yaml", hostPod(name, "sleep")+"  nodeSelector: {site: north}\n")
	}
	before := a.running(t, "one", "two")
	a.stop(t)
	a.saysNode(t, "max_pods = 1\n")
	a.start(t)
	a.settled(t)
	after := a.running(t, "one", "two")
	for name := range before {
		if container(before[name]) != container(after[name]) {
			t.Errorf("%s was restarted", name)
		}
	}
	a.manifest(t, "three.yaml", hostPod("three", "sleep"))
	a.pod(t, "three", rejected("OutOfpods", "Node didn't have enough resource: pods, requested: 1, used: 2, capacity: 1"))
	a.remove(t, "one.yaml")
	a.pod(t, "three", rejected("OutOfpods", "used: 1, capacity: 1"))
	a.remove(t, "two.yaml")
	a.running(t, "three")
	a.remove(t, "three.yaml")
	a.nothingLeft(t, n)
}

func TestAPodGivesWayToACriticalOne(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "vital")
	a.saysNode(t, "max_pods = 1\ncritical = [\"default/dns\"]\n")
	a.start(t)
	a.manifest(t, "web.yaml", hostPod("web", "sleep"))
	a.running(t, "web")
	a.manifest(t, "other.yaml", hostPod("other", "sleep"))
	a.pod(t, "other", rejected("OutOfpods"))
	a.manifest(t, "dns.yaml", hostPod("dns", "sleep"))
	a.running(t, "dns")
	web := a.pod(t, "web", denied("Preempting", "Preempted in order to admit critical pod"))
	if i := slices.IndexFunc(web.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.DisruptionTarget }); i < 0 {
		t.Errorf("the one that gave way has the conditions %+v", web.Status.Conditions)
	}
	a.event(t, "web", "Preempting", "Warning ", "critical pod")
	a.pod(t, "other", rejected("OutOfpods"))
	a.remove(t, "dns.yaml", "web.yaml")
	a.running(t, "other")
	a.remove(t, "other.yaml")
	a.nothingLeft(t, n)
}

// A pod that policies admitted keeps its place in a quota while the node
// has no room for it. It starts without being judged again.
func TestAPodThatWaitsForRoomKeepsItsPlaceInAQuota(t *testing.T) {
	t.Parallel()
	memory := fakecri.Start(t)
	memory.Load(webOne, 1, fakecri.Program{})
	a := newAgentAt(t, memory.Endpoint(), "full")
	a.saysNode(t, fmt.Sprintf("max_pods = %d\n", places-1))
	a.withQuota(t)
	a.start(t)
	a.inForce(t, "tenant-quota")
	for i := range places + 2 {
		a.manifest(t, fmt.Sprintf("p%02d.yaml", i), within("team-a", imagePod(fmt.Sprintf("p%02d", i), webOne, "")))
	}
	// census waits until this many pods are held, one waits for room and
	// all others of the quota run, and returns the name of a running pod.
	census := func(held int) (runs string) {
		eventually(t, "all are judged", func(ctx context.Context) error {
			all, err := a.pods(ctx)
			if err != nil {
				return err
			}
			run, wait, hold := 0, 0, 0
			for name, p := range all {
				switch {
				case ready(p):
					run, runs = run+1, name
				case rejected("OutOfpods")(&p) == nil:
					wait++
				case conditioned("wardlet.dev/Admitted", v1.PodPending, "QuotaExceeded")(&p) == nil:
					hold++
				}
			}
			if run+wait > places {
				t.Fatalf("%d pods run and %d wait for room, of a quota of %d", run, wait, places)
			}
			if run != places-1 || wait != 1 || hold != held {
				return fmt.Errorf("%d pods run, %d wait for room, %d are held", run, wait, hold)
			}
			return nil
		})
		return runs
	}
	first := census(2)
	a.remove(t, strings.TrimSuffix(first, "-full")+".yaml")
	census(1)
	a.kill()
	a.start(t)
	census(1)
	a.stop(t)
}
