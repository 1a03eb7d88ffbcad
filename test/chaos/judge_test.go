package main

import (
	"strconv"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// told returns a pod as the agent shows it.
func told(pod string, version int, phase v1.PodPhase, containers ...v1.ContainerStatus) v1.Pod {
	return v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: pod + "-" + nodeName, Labels: map[string]string{labelVersion: strconv.Itoa(version)}},
		Status:     v1.PodStatus{Phase: phase, ContainerStatuses: containers},
	}
}

func deniedPod(pod string, version int) v1.Pod {
	p := told(pod, version, v1.PodFailed)
	p.Status.Reason = reasonDenied
	return p
}

func toldRunning(name, id string) v1.ContainerStatus {
	return v1.ContainerStatus{
		Name: name, ContainerID: "containerd://" + id, State: v1.ContainerState{Running: &v1.ContainerStateRunning{}},
	}
}

func toldWaiting(name, reason string) v1.ContainerStatus {
	return v1.ContainerStatus{Name: name, State: v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason}}}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	denying := step{Kind: editManifest, Version: 2, Image: imageOther, File: "web-00.yaml"}
	allRun := func(pod string, version int, names ...string) (view, v1.Pod) {
		home := sandboxOf(pod, version, "s-"+strconv.Itoa(version), alive)
		v := view{sandboxes: []unit{home}}
		p := told(pod, version, v1.PodRunning)
		for _, name := range names {
			id := name + "-" + strconv.Itoa(version)
			v.containers = append(v.containers, containerOfPod(home, name, id, alive))
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, toldRunning(name, id))
		}
		return v, p
	}
	web1, says1 := allRun("web-00", 1, "main")
	web2, says2 := allRun("web-00", 2, "main")
	home := web1.sandboxes
	pair, saysPair := allRun("pair-00", 1, "main")
	job, _ := allRun("again-00", 1)

	for name, test := range map[string]struct {
		pod   string
		steps map[int]step
		view  view
		told  []v1.Pod
		// want is a part of the only finding; empty for none.
		want string
	}{
		"what is asked for runs":                             {"web-00", nil, web1, []v1.Pod{says1}, ""},
		"nothing is asked for and nothing runs":              {"web-00", map[int]step{1: removed}, view{}, nil, ""},
		"nothing runs":                                       {"web-00", nil, view{}, nil, "nothing of it runs"},
		"nothing runs, and the agent says it did":            {"web-00", nil, view{}, []v1.Pod{says1}, "nothing of it runs"},
		"nothing runs after an end":                          {"web-00", nil, view{}, []v1.Pod{told("web-00", 1, v1.PodFailed)}, "nothing of it runs"},
		"a removed pod runs on":                              {"web-00", map[int]step{1: removed}, web1, []v1.Pod{says1}, "version 1 runs, which is not asked for"},
		"an old version runs on":                             {"web-00", map[int]step{1: edited(2)}, web1, []v1.Pod{says1}, "version 1 runs, which is not asked for"},
		"the new version runs":                               {"web-00", map[int]step{1: edited(2)}, web2, []v1.Pod{says2}, ""},
		"a broken manifest's pod runs on":                    {"web-00", map[int]step{60: spoiled}, web1, []v1.Pod{says1}, ""},
		"a broken manifest's pod has ended":                  {"web-00", map[int]step{60: spoiled}, view{}, nil, "nothing of it runs"},
		"an old version runs where the new one is denied":    {"web-00", map[int]step{1: denying}, web1, []v1.Pod{says1}, ""},
		"a version that is denied now runs since it was not": {"web-00", map[int]step{1: denying}, web2, []v1.Pod{says2}, ""},
		"nothing runs of what is denied":                     {"web-00", map[int]step{1: denying}, view{}, []v1.Pod{deniedPod("web-00", 2)}, ""},
		"nothing runs of what would pass": {
			"web-00", map[int]step{1: denying, 2: {Kind: editPolicy, List: 2}}, view{}, []v1.Pod{deniedPod("web-00", 2)}, "nothing of it runs",
		},
		"an old version runs where the new one would pass": {
			"web-00", map[int]step{1: denying, 2: {Kind: editPolicy, List: 2}}, web1, []v1.Pod{says1}, "version 1 runs, which is not asked for",
		},
		"nothing runs of what is denied, and nobody says why": {"web-00", map[int]step{1: denying}, view{}, nil, "nothing of it runs"},
		"a container waits after many ends": {
			"web-00", nil, view{sandboxes: home}, []v1.Pod{told("web-00", 1, v1.PodRunning, toldWaiting("main", "CrashLoopBackOff"))}, "",
		},
		"a container waits for something else": {
			"web-00", nil,
			view{sandboxes: home},
			[]v1.Pod{told("web-00", 1, v1.PodRunning, toldWaiting("main", "CreateContainerError"))},
			"container main of version 1 does not run",
		},
		"one of two containers is missing": {"pair-00", nil, pair, []v1.Pod{saysPair}, "container beside of version 1 does not run"},
		"the agent says another container runs": {
			"web-00", nil, web1, []v1.Pod{told("web-00", 1, v1.PodRunning, toldRunning("main", "old"))}, "which the agent does not say",
		},
		"a job waits for its next try": {"again-00", nil, job, nil, ""},
		"a job is over":                {"once-00", nil, view{}, []v1.Pod{told("once-00", 1, v1.PodSucceeded)}, ""},
		"an older job is over":         {"once-00", nil, view{}, []v1.Pod{told("once-00", 2, v1.PodSucceeded)}, "nothing of it runs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []finding
			for _, f := range judge(noted(test.steps), &test.view, test.told) {
				if f.pod == test.pod { // all other pods are missing
					got = append(got, f)
				}
			}
			if len(got) > 1 || (len(got) == 0) != (test.want == "") || len(got) == 1 && !strings.Contains(got[0].text, test.want) {
				t.Errorf("got %+v, want %q", got, test.want)
			}
		})
	}
}
