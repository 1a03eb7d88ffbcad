package get

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/cmd/agent/internal/clitest"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

func TestGetPodsSaysWhoIsAskedWhereThatTakesLong(t *testing.T) {
	t.Parallel()
	p := clitest.Pod("default", "web")
	asked := func(hook string, ago time.Duration) *api.Asked {
		return &api.Asked{Hook: hook, Since: clitest.Noon.Add(-ago), Policy: "slow", Message: `policy "slow" is being asked`}
	}
	because := func(w api.Waiting, asked *api.Asked) api.Waiting {
		w.Asked = asked
		return w
	}
	suppressed := clitest.Waiting(p, api.Hold, "", true, 0)
	suppressed.Suppressed, suppressed.Verdict.Reason = true, api.ReasonNotAnswered
	since := func(what string) string {
		return what + " is being asked since " + clitest.Noon.Add(-time.Minute).UTC().Format(time.RFC3339) + `: policy "slow" is being asked`
	}
	for name, test := range map[string]struct {
		waits api.Waiting
		want  string
	}{
		"a new pod":             {because(clitest.Waiting(p, "", "", false, 0), asked(api.HookAdmit, time.Minute)), since("default/web: admission")},
		"a new pod, just now":   {because(clitest.Waiting(p, "", "", false, 0), asked(api.HookAdmit, time.Second)), ""},
		"a new version":         {because(clitest.Waiting(p, "", "", true, 0), asked(api.HookAdmit, time.Minute)), since("default/web: the new version in /etc/wardlet/manifests/web.yaml waits, the old one runs on: admission")},
		"a pod that is held":    {because(clitest.Waiting(p, api.Hold, "no", false, 0), asked(api.HookAdmit, time.Minute)), since("default/web: held: no; admission")},
		"one that is, just now": {because(clitest.Waiting(p, api.Hold, "no", false, 5*time.Second), asked(api.HookAdmit, time.Second)), "default/web: held: no; judged again in 5s"},
		"an update, of a filter": {
			because(suppressed, asked(api.HookFilter, time.Minute)),
			since("default/web: the update in /etc/wardlet/manifests/web.yaml is suppressed, the old one runs on: FilterNotAnswered; the filter"),
		},
		"an update, of a filter, just now": {because(suppressed, asked(api.HookFilter, time.Second)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, n := range podNotes(&p, []api.Waiting{test.waits}, nil, clitest.Noon) {
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
	held := clitest.Waiting(clitest.Pod("default", "web"), api.Hold, `policy "p": the plugin failed with Trap (on_error is hold)`, false, 9*time.Second)
	held.Verdict.Reason = api.ReasonPolicyFailed
	ofTenant := held
	ofTenant.Verdict.Tenant = "a"
	from := func(source, message string) v1.Pod {
		return clitest.Pod("default", "web", clitest.Rejected(api.ReasonPolicyFailed, message), func(p *v1.Pod) {
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
			clitest.Pod("default", "web"),
			[]api.Waiting{held},
			`default/web: held: policy "p": the plugin failed with Trap (on_error is hold); judged again in 9s; "wardlet policy retry" has it judged now`,
		},
		"held by a tenant's policy": {
			clitest.Pod("default", "web"),
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
		for _, n := range podNotes(&test.pod, test.waits, nil, clitest.Noon) {
			got = append(got, n.text)
		}
		if text := strings.Join(got, "\n"); text != test.want {
			t.Errorf("%s: %q, want %q", name, text, test.want)
		}
	}
}

func TestPodStream_doesNotRepeatWhatAProbeFinds(t *testing.T) {
	t.Parallel()
	web := clitest.Pod("shop", "web", clitest.Unready)
	notes := func(message string) []note {
		return podNotes(&web, nil, []api.Event{clitest.Unhealthy(&web, message)}, clitest.Noon)
	}
	first, second := notes("Readiness probe failed: after 3 ms"), notes("Readiness probe failed: after 4 ms")
	if first[0].text == second[0].text || !sameNotes(first, second) {
		t.Errorf("notes %+v and %+v, want other words for the same", first, second)
	}
	if sameNotes(first, podNotes(&web, nil, nil, clitest.Noon)) {
		t.Error("a probe that has failed is the same as one that has not succeeded yet")
	}
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
			for _, n := range podNotes(p, nil, nil, clitest.Noon) {
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
	p := clitest.Pod("default", "job")
	p.Status.Phase = v1.PodSucceeded
	p.Status.Conditions = []v1.PodCondition{{Type: api.ConditionEditIgnored, Status: v1.ConditionTrue, Message: "spec.volumes has changed\x1b, but the pod has ended"}}
	notes := podNotes(&p, nil, nil, clitest.Noon)
	if len(notes) != 1 || notes[0].text != `default/job: spec.volumes has changed\x1b, but the pod has ended` {
		t.Errorf("notes %+v", notes)
	}
}
