package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

func isHeldBack(p *v1.Pod) {
	p.Status = v1.PodStatus{Phase: v1.PodPending, Conditions: []v1.PodCondition{
		{Type: "wardlet.dev/Admitted", Status: v1.ConditionFalse, Reason: "NoTeam", Message: `policy "required-labels": no team`},
	}}
}

func rejected(reason, message string) edit {
	return func(p *v1.Pod) {
		p.Status = v1.PodStatus{Phase: v1.PodFailed, Reason: reason, Message: "Pod was rejected: " + message}
	}
}

func pendingFor(reason, message string) edit {
	return func(p *v1.Pod) {
		p.Status = v1.PodStatus{Phase: v1.PodPending, Reason: reason, Message: message}
	}
}

// wait is a version of p that waits; without runs nothing of p runs.
func wait(p v1.Pod, answer api.Answer, message string, runs bool, retryIn time.Duration) api.Waiting {
	w := api.Waiting{
		Pod: &p, Origin: api.Origin{Source: "static", Document: "/etc/wardlet/manifests/" + p.Name + ".yaml#0", Version: "v1"},
		Verdict: api.Verdict{Answer: answer, Reason: "Because", Message: message},
	}
	if retryIn != 0 {
		w.RetryAt = noon.Add(retryIn)
	}
	if runs {
		w.Running = new(p)
		w.Pod.UID += "-new"
	}
	return w
}

func TestGetPodsSaysWhoIsAskedWhereThatTakesLong(t *testing.T) {
	t.Parallel()
	p := aPod("default", "web")
	asked := func(hook string, ago time.Duration) *api.Asked {
		return &api.Asked{Hook: hook, Since: noon.Add(-ago), Policy: "slow", Message: `policy "slow" is being asked`}
	}
	because := func(w api.Waiting, asked *api.Asked) api.Waiting {
		w.Asked = asked
		return w
	}
	suppressed := wait(p, api.Hold, "", true, 0)
	suppressed.Suppressed, suppressed.Verdict.Reason = true, api.ReasonNotAnswered
	since := func(what string) string {
		return what + " is being asked since " + noon.Add(-time.Minute).UTC().Format(time.RFC3339) + `: policy "slow" is being asked`
	}
	for name, test := range map[string]struct {
		waits api.Waiting
		want  string
	}{
		"a new pod":             {because(wait(p, "", "", false, 0), asked(api.HookAdmit, time.Minute)), since("default/web: admission")},
		"a new pod, just now":   {because(wait(p, "", "", false, 0), asked(api.HookAdmit, time.Second)), ""},
		"a new version":         {because(wait(p, "", "", true, 0), asked(api.HookAdmit, time.Minute)), since("default/web: the new version in /etc/wardlet/manifests/web.yaml waits, the old one runs on: admission")},
		"a pod that is held":    {because(wait(p, api.Hold, "no", false, 0), asked(api.HookAdmit, time.Minute)), since("default/web: held: no; admission")},
		"one that is, just now": {because(wait(p, api.Hold, "no", false, 5*time.Second), asked(api.HookAdmit, time.Second)), "default/web: held: no; judged again in 5s"},
		"an update, of a filter": {
			because(suppressed, asked(api.HookFilter, time.Minute)),
			since("default/web: the update in /etc/wardlet/manifests/web.yaml is suppressed, the old one runs on: FilterNotAnswered; the filter"),
		},
		"an update, of a filter, just now": {because(suppressed, asked(api.HookFilter, time.Second)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, n := range podNotes(&p, []api.Waiting{test.waits}, nil, noon) {
				got = append(got, n.text)
			}
			if text := strings.Join(got, "\n"); text != test.want {
				t.Errorf("%q, want %q", text, test.want)
			}
		})
	}
}

func TestPodNotes_sayHowAPluginThatFailedIsAskedAgain(t *testing.T) {
	t.Parallel()
	held := wait(aPod("default", "web"), api.Hold, `policy "p": the plugin failed with Trap (on_error is hold)`, false, 9*time.Second)
	held.Verdict.Reason = api.ReasonPolicyFailed
	ofTenant := held
	ofTenant.Verdict.Tenant = "a"
	from := func(source, message string) v1.Pod {
		return aPod("default", "web", rejected(api.ReasonPolicyFailed, message), func(p *v1.Pod) {
			p.Annotations = map[string]string{pod.AnnotationSource: source}
		})
	}
	const denied = `: the plugin failed with Trap (on_error is deny)`
	for name, test := range map[string]struct {
		pod   v1.Pod
		waits []api.Waiting
		want  string
	}{
		"held": {
			aPod("default", "web"),
			[]api.Waiting{held},
			`default/web: held: policy "p": the plugin failed with Trap (on_error is hold); judged again in 9s; "wardlet policy retry" has it judged now`,
		},
		"held by a tenant's policy": {
			aPod("default", "web"),
			[]api.Waiting{ofTenant},
			`default/web: held: policy "p": the plugin failed with Trap (on_error is hold); judged again in 9s; "wardlet policy retry --tenant a" has it judged now`,
		},
		"denied": {
			from("file", `policy "p"`+denied), nil,
			`default/web: denied by policy "p"` + denied + `; "wardlet policy retry" has it judged again`,
		},
		"denied by a tenant's policy": {
			from("file", `policy "p" of tenant "a"`+denied), nil,
			`default/web: denied by policy "p" of tenant "a"` + denied + `; "wardlet policy retry --tenant a" has it judged again`,
		},
		"denied for good": {
			from(pod.SourceAPI, `policy "p"`+denied), nil,
			`default/web: denied by policy "p"` + denied,
		},
	} {
		var got []string
		for _, n := range podNotes(&test.pod, test.waits, nil, noon) {
			got = append(got, n.text)
		}
		if text := strings.Join(got, "\n"); text != test.want {
			t.Errorf("%s: %q, want %q", name, text, test.want)
		}
	}
}

func TestGetPodsSaysWhatWaitsAndWhy(t *testing.T) {
	t.Parallel()
	pods := []v1.Pod{
		aPod("default", "web", created),
		aPod("default", "worker", created),
		aPod("default", "newcomer", isHeldBack),
		aPod("default", "quiet", isHeldBack),
		aPod("default", "second", isHeldBack),
		aPod("default", "evil", rejected("ImageNotAllowed", `policy "allowed-images": image evil/x of container main is not allowed`)),
		aPod("default", "orphan", rejected("DefaultVerdict", "no policy has an opinion, and policy.default_verdict is deny")),
		aPod("default", "fat", rejected("OutOfmemory", "Node didn't have enough resource: memory")),
		aPod("default", "big", pendingFor("OutOfcpu", "Pod was rejected for now: Node didn't have enough resource: cpu")),
		aPod("default", "critical", pendingFor("MakingRoom", "Pod starts when these have ended: default/small, default/tiny")),
		aPod("other", "calm", created),
	}
	second := wait(pods[4], api.Hold, "", false, 500*time.Millisecond)
	second.Verdict.Reason = "PolicyHeld"
	worker := wait(pods[1], api.Hold, `policy "required-labels": not now`, true, 90*time.Second)
	worker.Origin.Document = "/etc/wardlet/manifests/all.yaml#3"
	waiting := []api.Waiting{
		wait(pods[0], api.Deny, `policy "allowed-images": image evil/x is not allowed`, true, 0),
		worker,
		wait(pods[2], api.Hold, `policy "required-labels": no team`, false, 8*time.Second),
		wait(pods[3], api.Hold, "policies are not ready:\n/p/a.toml:1: bad\x1b[2J", false, 0),
		second,
		wait(aPod("default", "unknown"), api.Hold, "of a pod that is not listed", false, 0),
	}
	for name, args := range map[string][]string{
		"get-pods-waiting":           {"pods"},
		"get-pods-waiting-wide":      {"pods", "-o", "wide"},
		"get-pods-waiting-namespace": {"pods", "-n", "other"},
		"get-pods-waiting-named":     {"pods", "newcomer"},
		"get-pods-waiting-json":      {"pods", "newcomer", "-o", "json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{pods: [][]v1.Pod{pods}, waiting: [][]api.Waiting{waiting}, foreign: 1})
			golden(t, name, wardlet(t.Context(), append([]string{"get", "--socket", socket}, args...)...))
		})
	}
}

func TestGetPodsSaysUntilWhenAndWhyAFilterHoldsBack(t *testing.T) {
	t.Parallel()
	names := []string{"closed", "dropped", "fresh", "new", "soon"}
	var pods []v1.Pod
	var waiting []api.Waiting
	for _, name := range names {
		p := aPod("default", name, created)
		w := wait(p, api.Hold, `policy "hours": the window is closed`, name != "new", 5*time.Minute)
		w.Suppressed, w.Verdict.Reason, w.Until = true, "Window", noon.Add(23*time.Hour)
		switch name {
		case "dropped": // until it changes or the time is over
			w.Verdict.Message, w.Verdict.Reason, w.RetryAt = `policy "hours": `, "PolicySuppressed", w.Until
		case "fresh": // not answered yet
			w.Verdict = api.Verdict{Answer: api.Hold, Reason: api.ReasonNotAnswered}
			w.Until, w.RetryAt = time.Time{}, time.Time{}
		case "soon":
			w.RetryAt = noon
		}
		pods, waiting = append(pods, p), append(waiting, w)
	}
	socket, _ := serve(t, &knowledge{pods: [][]v1.Pod{pods}, waiting: [][]api.Waiting{waiting}})
	golden(t, "get-pods-suppressed", wardlet(t.Context(), "get", "pods", "--socket", socket))
}

func TestWideOutputCountsForeignPods(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]*knowledge{
		"get-pods-foreign":         {foreign: 3, pods: [][]v1.Pod{{aPod("web", "shop")}}},
		"get-pods-foreign-only":    {foreign: 2},
		"get-pods-foreign-unknown": {foreignErr: errors.New("container runtime is away"), pods: [][]v1.Pod{{aPod("web", "shop")}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, k)
			golden(t, name, wardlet(t.Context(), "get", "pods", "-o", "wide", "--socket", socket), socket, "SOCKET")
		})
	}
}

func TestWatchPrintsAPodAgainWhenWhatWaitsChanges(t *testing.T) {
	t.Parallel()
	web := aPod("web", "shop", created)
	denied := wait(web, api.Deny, `policy "a": no`, true, 0)
	held := wait(web, api.Hold, `policy "b": later`, true, 20*time.Second)
	sooner := wait(web, api.Hold, `policy "b": later`, true, 10*time.Second)
	edited := wait(web, api.Hold, `policy "b": later`, true, 10*time.Second)
	edited.Origin.Version = "v2"
	k := &knowledge{
		pods:    [][]v1.Pod{{web}},
		waiting: [][]api.Waiting{{}, {denied}, {denied}, {held}, {sooner}, {edited}, {}, {}},
	}
	socket, _ := serve(t, k)
	golden(t, "watch-pods-waiting", wardletUntil(t, "  shop ", 5, "get", "pods", "-w", "--socket", socket))
}

func TestWatchSaysWhatTakesLongWhenItDoes(t *testing.T) {
	t.Parallel()
	web := aPod("web", "shop", created)
	unjudged := wait(web, "", "", true, 0)
	unjudged.Asked = &api.Asked{Hook: api.HookAdmit, Since: noon}
	socket, _ := serve(t, &knowledge{pods: [][]v1.Pod{{web}}, waiting: [][]api.Waiting{{unjudged}}})
	var late atomic.Bool
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out := &telling{tell: func(out string) {
		late.Store(true) // from the first row on
		if strings.Contains(out, "asked") {
			cancel()
		}
	}}
	a := &app{out: out, errOut: io.Discard, poll: time.Millisecond, now: func() time.Time {
		if late.Load() {
			return noon.Add(2 * answerTime)
		}
		return noon
	}}
	code := a.execute(ctx, []string{"get", "pods", "-w", "--socket", socket})
	golden(t, "watch-pods-unjudged", out.String()+fmt.Sprintf("--- exit status %d\n", code))
}

func TestPodNotes_podThatDoesNotStart(t *testing.T) {
	t.Parallel()
	waits := func(name, reason, message string) v1.ContainerStatus {
		return v1.ContainerStatus{Name: name, State: v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason, Message: message}}}
	}
	pending := func(reason, message string, containers ...v1.ContainerStatus) v1.PodStatus {
		return v1.PodStatus{Phase: v1.PodPending, Reason: reason, Message: message, ContainerStatuses: containers}
	}
	const atOnce = "; nothing that leaves the node changes that: change the pod, or what the node allows"
	for name, test := range map[string]struct {
		status v1.PodStatus
		want   []string
	}{
		"it is being started": {pending("", "", waits("a", "ContainerCreating", "")), nil},
		"it cannot be started, which is said once": {
			pending("", "", waits("a", "ContainerCreating", "FailedMount: volume \"x\": no\nsuch"), waits("b", "ContainerCreating", "FailedMount: volume \"x\": no\nsuch")),
			[]string{"default/web: not started yet: FailedMount: volume \"x\": no; such"},
		},
		"its image cannot be pulled": {
			pending("", "", waits("a", "ErrImagePull", "not found"), waits("b", "ContainerCreating", "")),
			[]string{"default/web: container a: ErrImagePull: not found"},
		},
		"it is restarted": {
			v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: []v1.ContainerStatus{waits("a", "CrashLoopBackOff", "back-off 10s restarting failed container=a")}},
			[]string{"default/web: container a: CrashLoopBackOff (back-off 10s)"},
		},
		"there is no room": {
			pending("OutOfmemory", "Pod was rejected for now: no room"),
			[]string{"default/web: rejected for now: no room; tried again when something else has left the node"},
		},
		"its port is taken": {
			pending("NodePorts", "Pod was rejected for now: taken"),
			[]string{"default/web: rejected for now: taken; tried again when something else has left the node"},
		},
		"a sysctl is forbidden":    {pending("SysctlForbidden", "Pod was rejected for now: no"), []string{"default/web: rejected: no" + atOnce}},
		"no such AppArmor profile": {pending("AppArmor", "Pod was rejected for now: no"), []string{"default/web: rejected: no" + atOnce}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Status: test.status}
			p.Spec.Containers = []v1.Container{{Name: "a"}, {Name: "b"}}
			var got []string
			for _, n := range podNotes(p, nil, nil, noon) {
				got = append(got, n.text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodNotes_anIgnoredEditIsTold(t *testing.T) {
	t.Parallel()
	p := aPod("default", "job")
	p.Status.Phase = v1.PodSucceeded
	p.Status.Conditions = []v1.PodCondition{{Type: api.ConditionEditIgnored, Status: v1.ConditionTrue, Message: "spec.volumes has changed\x1b, but the pod has ended"}}
	notes := podNotes(&p, nil, nil, noon)
	if len(notes) != 1 || notes[0].text != `default/job: spec.volumes has changed\x1b, but the pod has ended` {
		t.Errorf("notes %+v", notes)
	}
}
