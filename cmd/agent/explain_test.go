package main

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// aStory returns what an agent knows about two pods: default/web, whose new version is denied, and
// another one.
func aStory() *knowledge {
	at := func(ago time.Duration) metav1.Time { return metav1.NewTime(noon.Add(-ago)) }
	web := v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-edge", UID: "uid-web", Annotations: map[string]string{pod.AnnotationSource: "static"}},
		Spec:       v1.PodSpec{NodeName: "edge"},
		Status: v1.PodStatus{
			Phase: v1.PodRunning, StartTime: new(at(time.Hour)),
			Conditions: []v1.PodCondition{
				{Type: v1.PodReady, Status: v1.ConditionTrue},
				{Type: api.ConditionUpdateAdmitted, Status: v1.ConditionFalse, Reason: "ImageNotAllowed", Message: "evil"},
			},
			ContainerStatuses: []v1.ContainerStatus{{
				Name: "main", RestartCount: 1, Ready: true,
				LastTerminationState: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
					ExitCode: 137, Reason: "OOMKilled", StartedAt: at(59 * time.Minute), FinishedAt: at(30 * time.Minute),
				}},
				State: v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: at(29 * time.Minute)}},
			}},
		},
	}
	newer := web
	newer.Annotations = map[string]string{}
	passed := aDecision("default", "web-edge", time.Hour, api.Verdict{Answer: api.Allow, Policy: "allowed-images", Opinions: []api.Opinion{
		{Policy: "own", Tenant: "a", Answer: api.Abstain, Fuel: 12},
		{
			Policy: "allowed-images", Answer: api.Allow, Fuel: 12345, Reads: []string{"object.spec.@containers[*].image", "request"},
			Explanation: "matches\x1b[31m registry.example/*", Warnings: []string{"no digest"},
		},
		{Policy: "quota", Mode: api.ModeAudit, Answer: api.Hold, Failure: "Trap", Reason: "PolicyFailed", Message: "the plugin failed with Trap"},
	}})
	denied := aDecision("default", "web-edge", 10*time.Minute, deniedBy)
	denied.Op, denied.Count, denied.Last, denied.NotKept = api.UpdateOp, 3, noon.Add(-time.Minute), "no space left"
	denied.Verdict.Opinions = []api.Opinion{{Policy: "allowed-images", Answer: api.Deny, Reason: "ImageNotAllowed", Message: "image evil/x", Fuel: 99, Reads: []string{"object.spec.@containers[*].image"}}}
	origin := api.Origin{Source: "static", Document: "/m/web.yaml#0", Version: "v7", FirstSeen: noon.Add(-2 * time.Hour)}
	other := web
	other.Name, other.UID = "db-edge", "uid-db"
	return &knowledge{
		pods:      [][]v1.Pod{{web, other}},
		decisions: [][]api.Decision{{passed, denied, aDecision("default", "db-edge", time.Minute, admitted)}},
		origins:   map[types.UID]api.Origin{"uid-web": origin, "uid-db": {Source: "static", Document: "/m/db.yaml#0"}},
		waiting: [][]api.Waiting{{{
			Pod: &newer, Running: &web, Origin: origin, Verdict: api.Verdict{Answer: api.Hold, Message: "policy \"window\": not now"}, RetryAt: noon.Add(time.Minute),
		}}},
		suppressed: [][]api.WaitingUpdate{{{
			Namespace: "default", Name: "web-edge", UID: "uid-web", Op: api.UpdateOp, Policy: "window", Message: "policy \"window\": at night",
			Since: noon.Add(-5 * time.Minute), Again: noon.Add(time.Minute), Until: noon.Add(time.Hour), Source: "static", Document: "/m/web.yaml#0",
		}}},
		conflicts: []api.Conflict{{
			Namespace: "default", Name: "web-edge", Rule: api.RulePolicy, Message: "source-precedence: static comes first", Since: noon.Add(-90 * time.Minute),
			Claims: []api.Claim{
				{Source: "fleet", Document: "https://fleet/x#1", UID: "uid-fleet", State: api.ClaimLost, Message: "/m/web.yaml of source static has precedence"},
				{Source: "static", Document: "/m/web.yaml#0", UID: "uid-web", State: api.ClaimRuns},
			},
		}},
		sources: [][]api.SourceState{{
			{Name: "fleet", Err: "connection refused", Seen: true},
			{Name: "static", Seen: true, Problems: []api.Problem{
				{Document: "/m/web.yaml#1", Message: "/m/web.yaml:12: spec.containers: missing", Since: noon.Add(-3 * time.Minute), Kept: true},
				{Document: "/m/other.yaml#0", Message: "nothing of ours"},
			}},
			{Name: "unrelated", Err: "no such file"},
		}},
		events: []api.Event{
			{First: noon.Add(-58 * time.Minute), Last: noon, Count: 2, Type: v1.EventTypeWarning, Reason: "BackOff", Message: "restarting", Namespace: "default", Name: "web-edge", UID: "uid-web"},
			{First: noon, Type: v1.EventTypeNormal, Reason: "Pulled", Namespace: "default", Name: "db-edge", UID: "uid-db"},
		},
	}
}

func TestExplainPod(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"explain-pod":           {"pod", "default/web-edge"},
		"explain-pod-manifest":  {"pod", "-n", "default", "web"},
		"explain-pod-json":      {"pod", "default/web", "-o", "json"},
		"explain-pod-yaml":      {"pod", "default/db", "-o", "yaml"},
		"explain-pod-quiet":     {"po", "default/db"},
		"explain-pod-near":      {"pod", "default/wbe"},
		"explain-pod-elsewhere": {"pod", "kube-system/web"},
		"explain-pod-unknown":   {"pod", "kube-system/nothing-like-it"},
		"explain-pod-no-name":   {"pod"},
		"explain-pod-no-space":  {"pod", "web"},
		"explain-pod-format":    {"pod", "default/web", "-o", "wide"},
		"explain-nothing":       {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, aStory())
			golden(t, name, wardlet(t.Context(), append([]string{"explain", "--socket", socket}, args...)...), socket, "SOCKET")
		})
	}
}

// TestExplain_takesAPodAsGetPodsNamesIt: the output of `get pods -o name` is a valid argument.
func TestExplain_takesAPodAsGetPodsNamesIt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		args []string
	}{
		{"explain-pod", []string{"pod/default/web-edge"}},
		{"explain-pod", []string{"pod/web-edge", "-n", "default"}}, // as kubectl accepts it
		{"explain-pod-json", []string{"pod/default/web", "-o", "json"}},
	} {
		name, args := test.name, test.args
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			for _, words := range [][]string{{"explain"}, {"explain", "pod"}} {
				socket, _ := serve(t, aStory())
				words = append(append(words, "--socket", socket), args...)
				golden(t, name, wardlet(t.Context(), words...), socket, "SOCKET")
			}
		})
	}
}

func TestWhatIsToldFromBeforeARestartIsMarked(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"explain-pod-restarted":      {"pod", "default/web"},
		"explain-pod-restarted-json": {"pod", "default/db", "-o", "json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := aStory()
			k.started = noon.Add(-40 * time.Minute)
			k.events = k.events[1:]
			k.events[0].First = noon
			// For web the decision is still listed. For db only the verdict is left.
			k.verdicts = map[types.UID]*api.Verdict{
				"uid-web": &k.decisions[0][0].Verdict,
				"uid-db": {
					Answer: api.Allow, Policy: "allowed-images", At: noon.Add(-2 * time.Hour),
					Opinions: []api.Opinion{{Policy: "allowed-images", Answer: api.Allow, Fuel: 7, Reads: []string{"request"}}},
				},
			}
			k.decisions[0][0].UID, k.verdicts["uid-web"].At = "uid-web", k.decisions[0][0].First
			socket, _ := serve(t, k)
			golden(t, name, wardlet(t.Context(), append([]string{"explain", "--socket", socket}, args...)...))
		})
	}
}

func TestAPodThatIsGoneIsExplainedByWhatIsOnRecord(t *testing.T) {
	t.Parallel()
	k := aStory()
	*k = knowledge{decisions: k.decisions}
	socket, _ := serve(t, k)
	golden(t, "explain-pod-gone", wardlet(t.Context(), "explain", "pod", "default/db", "--socket", socket))
}
