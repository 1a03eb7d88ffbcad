package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// guaranteed sets the limits of a pod to its requests.
func guaranteed(p *v1.Pod) {
	p.Spec.Containers[0].Resources.Limits = p.Spec.Containers[0].Resources.Requests
}

func uids(pods []*v1.Pod) []types.UID {
	var uids []types.UID
	for _, p := range pods {
		uids = append(uids, p.UID)
	}
	return uids
}

func TestWhoGivesWayToACriticalPod(t *testing.T) {
	t.Parallel()
	const critical = 2_000_000_000
	big := func(pairs ...string) *v1.Pod { return with(asks("p", pairs...), priority(critical)) }
	for name, test := range map[string]struct {
		pod            *v1.Pod
		others, ending []*v1.Pod
		victims, await []types.UID
		refused        Result
	}{
		"nobody where there is room": {pod: big("cpu", "1"), others: []*v1.Pod{asks("1", "cpu", "1")}},
		"one that has what is lacking": {
			pod: big("cpu", "1"), others: []*v1.Pod{asks("1", "cpu", "1500m"), asks("2", "cpu", "200m")}, victims: []types.UID{"1"},
		},
		"the smaller one of two that each suffice": {
			pod: big("cpu", "1"), others: []*v1.Pod{asks("1", "cpu", "1", "memory", "2Gi"), asks("2", "cpu", "1", "memory", "1Gi")}, victims: []types.UID{"2"},
		},
		"several where one does not suffice": {
			pod: big("cpu", "2"), others: []*v1.Pod{asks("1", "cpu", "1"), asks("2", "cpu", "1")}, victims: []types.UID{"2", "1"},
		},
		"a burstable one before a guaranteed one": {
			pod: big("memory", "2Gi"), others: []*v1.Pod{with(asks("1", "cpu", "1", "memory", "2Gi"), guaranteed), asks("2", "memory", "2Gi")},
			victims: []types.UID{"2"},
		},
		"a guaranteed one for what the others cannot give": {
			pod: big("memory", "4Gi"), others: []*v1.Pod{with(asks("1", "cpu", "1", "memory", "2Gi"), guaranteed), asks("2", "memory", "2Gi")},
			victims: []types.UID{"2", "1"},
		},
		"one without requests where there are too many pods": {
			pod: big(), others: []*v1.Pod{asks("1", "cpu", "1m"), newPod("2"), asks("3", "cpu", "1m"), asks("4", "cpu", "1m"), asks("5", "cpu", "1m")},
			victims: []types.UID{"2"},
		},
		"one that suffices for two resources": {
			pod: big("cpu", "1", "memory", "2Gi"), victims: []types.UID{"2"},
			others: []*v1.Pod{asks("1", "cpu", "1"), asks("2", "cpu", "1", "memory", "3Gi")},
		},
		"one of a lower priority, though it is critical": {
			pod: with(asks("p", "cpu", "1"), priority(critical+1)), others: []*v1.Pod{with(asks("1", "cpu", "2"), priority(critical))}, victims: []types.UID{"1"},
		},
		"a static one": {pod: big("cpu", "1"), others: []*v1.Pod{with(asks("1", "cpu", "2"), static)}, victims: []types.UID{"1"}},
		"nobody who is critical": {
			pod: big("cpu", "1"), others: []*v1.Pod{with(asks("1", "cpu", "2"), priority(critical))},
			refused: refusal("OutOfcpu", "Node didn't have enough resource: cpu, requested: 1000, used: 2000, capacity: 2000; it would not fit even if all pods ended that give way to it"),
		},
		"nobody where that would not help": {
			pod: big("cpu", "3"), others: []*v1.Pod{asks("1", "cpu", "2")},
			refused: refusal("OutOfcpu", "Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 2000; it would not fit even if all pods ended that give way to it"),
		},
		"nobody for a port": {
			pod: with(big("cpu", "1"), port(80, "", "")), others: []*v1.Pod{with(asks("1", "cpu", "2"), port(80, "", ""))}, refused: portTaken,
		},
		"nobody to one that is not critical": {
			pod: with(asks("p", "cpu", "1"), priority(critical-1)), others: []*v1.Pod{asks("1", "cpu", "2")}, refused: outOf("cpu", "1000", "2000", "2000"),
		},
		"nobody else where those suffice that are being ended": {
			pod: big("cpu", "1"), others: []*v1.Pod{asks("1", "cpu", "1")}, ending: []*v1.Pod{asks("2", "cpu", "1")}, await: []types.UID{"2"},
		},
		"others for what is lacking then": {
			pod: big("cpu", "2"), others: []*v1.Pod{asks("1", "cpu", "1")}, ending: []*v1.Pod{asks("2", "cpu", "1")},
			victims: []types.UID{"1"}, await: []types.UID{"2"},
		},
		"none of those that are being ended and have nothing of what is lacking": {
			pod: big("cpu", "2"), others: []*v1.Pod{asks("1", "cpu", "2")}, ending: []*v1.Pod{asks("2", "memory", "1Gi")},
			victims: []types.UID{"1"},
		},
		"of those that are being ended no more than are enough, the first ones": {
			pod: big("cpu", "1"), await: []types.UID{"3", "4"},
			ending: []*v1.Pod{asks("2"), asks("3", "cpu", "250m"), asks("4", "cpu", "1500m"), asks("5", "cpu", "250m")},
		},
		"each of them that has something of what is still lacking": {
			pod: big("cpu", "2", "memory", "4Gi"), await: []types.UID{"2", "3"},
			ending: []*v1.Pod{asks("2", "cpu", "2"), asks("3", "memory", "1Gi"), asks("4", "cpu", "0")},
		},
		"none where its victims are enough": {
			pod: big("cpu", "1"), others: []*v1.Pod{asks("1", "cpu", "1500m")}, victims: []types.UID{"1"},
			ending: []*v1.Pod{asks("2", "cpu", "250m"), asks("3", "cpu", "250m")},
		},
		"those that are enough beside its victims": {
			pod: big("cpu", "2"), others: []*v1.Pod{asks("1", "cpu", "1")}, victims: []types.UID{"1"}, await: []types.UID{"2"},
			ending: []*v1.Pod{asks("2", "cpu", "500m"), asks("3", "cpu", "0")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := fit(edge()).Admit(&Attributes{Pod: test.pod, Others: test.others, Ending: test.ending})
			if test.refused.Reason != "" {
				if diff := cmp.Diff(test.refused, got); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				return
			}
			p := got.Preemption
			if p == nil {
				p = &Preemption{}
			}
			if !got.Admitted || cmp.Diff(test.victims, uids(p.Victims)) != "" || cmp.Diff(test.await, uids(p.Await)) != "" {
				t.Errorf("admitted %v (%s: %s), victims %q, awaits %q; want it admitted, %q and %q",
					got.Admitted, got.Reason, got.Message, uids(p.Victims), uids(p.Await), test.victims, test.await)
			}
		})
	}
}

func TestStaticPodsAreCriticalWhereTheOperatorSaysSo(t *testing.T) {
	t.Parallel()
	f := fit(edge())
	p, other := with(asks("p", "cpu", "1"), static), with(asks("1", "cpu", "2"), static)
	api := asks("2", "cpu", "2")
	for _, test := range []struct {
		name    string
		is      pod.Criticality
		other   *v1.Pod
		victims int
	}{
		{"a static pod does not displace others", pod.Criticality{}, api, 0},
		{"but where static pods are critical", pod.Criticality{Static: true}, api, 1},
		{"and not its like then", pod.Criticality{Static: true}, other, 0},
		{"but one that was named does", pod.Criticality{Named: func(n *v1.Pod) bool { return n == p }}, other, 1},
	} {
		f.Critical = test.is
		got := f.Admit(&Attributes{Pod: p, Others: []*v1.Pod{test.other}})
		if got.Admitted != (test.victims > 0) || got.Admitted && len(got.Preemption.Victims) != test.victims {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}

func TestNobodyGivesWayToAPodThatALaterHandlerRefuses(t *testing.T) {
	t.Parallel()
	a := &Attributes{Pod: with(asks("p", "cpu", "1"), priority(2_000_000_000)), Others: []*v1.Pod{asks("1", "cpu", "2")}}
	if got := (Chain{fit(edge()), &says{result: portTaken}}).Admit(a); got != portTaken {
		t.Errorf("answer %+v", got)
	}
	if got := (Chain{fit(edge()), &says{result: yes}}).Admit(a); !got.Admitted || got.Preemption == nil {
		t.Errorf("a later handler takes the room away: %+v", got)
	}
}
