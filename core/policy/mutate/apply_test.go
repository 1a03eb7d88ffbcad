package mutate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wardlet/wardlet/core/pod"
)

func TestAPatchChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		patch   string
		changed []string
		edit    func(p *v1.Pod)
	}{
		"an image": {
			`[{"op":"replace","path":"/spec/containers/0/image","value":"registry.example/web:2"}]`,
			[]string{"/spec/containers/0/image"},
			func(p *v1.Pod) { p.Spec.Containers[0].Image = "registry.example/web:2" },
		},
		"a label": {
			`[{"op":"add","path":"/metadata/labels/team","value":"a"}]`,
			[]string{"/metadata/labels/team"},
			func(p *v1.Pod) { p.Labels["team"] = "a" },
		},
		"keys with escapes": {
			`[{"op":"remove","path":"/metadata/labels/example.org~1tier"},{"op":"replace","path":"/metadata/annotations/example.org~1a.b","value":"2"}]`,
			[]string{"/metadata/annotations/example.org~1a.b", "/metadata/labels/example.org~1tier"},
			func(p *v1.Pod) {
				delete(p.Labels, "example.org/tier")
				p.Annotations["example.org/a.b"] = "2"
			},
		},
		"an element at the end": {
			`[{"op":"add","path":"/spec/containers/0/env/-","value":{"name":"C","value":"3"}}]`,
			[]string{"/spec/containers/0/env/2"},
			func(p *v1.Pod) {
				p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, v1.EnvVar{Name: "C", Value: "3"})
			},
		},
		"the elements after one that is put before them": {
			`[{"op":"add","path":"/spec/containers/0/env/1","value":{"name":"B"}},{"op":"test","path":"/spec/containers/0/env/2/value","value":"2"}]`,
			[]string{"/spec/containers/0/env/1/value", "/spec/containers/0/env/2"},
			func(p *v1.Pod) {
				p.Spec.Containers[0].Env = []v1.EnvVar{{Name: "A", Value: "1"}, {Name: "B"}, {Name: "B", Value: "2"}}
			},
		},
		"a list that goes": {
			`[{"op":"remove","path":"/spec/containers/0/env"}]`,
			[]string{"/spec/containers/0/env"},
			func(p *v1.Pod) { p.Spec.Containers[0].Env = nil },
		},
		"an object that comes, with its defaults": {
			`[{"op":"add","path":"/spec/containers/-","value":{"name":"new","image":"i"}}]`,
			[]string{"/spec/containers/2"},
			func(p *v1.Pod) {
				p.Spec.Containers = append(p.Spec.Containers, v1.Container{
					Name: "new", Image: "i", ImagePullPolicy: v1.PullAlways,
					TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File",
				})
			},
		},
		"what a default follows from": {
			`[{"op":"add","path":"/spec/hostNetwork","value":true}]`,
			[]string{"/spec/containers/0/ports/0/hostPort", "/spec/hostNetwork"},
			func(p *v1.Pod) { p.Spec.HostNetwork, p.Spec.Containers[0].Ports[0].HostPort = true, 80 },
		},
		"a quantity, in the form all have": {
			`[{"op":"replace","path":"/spec/containers/0/resources/limits/cpu","value":"2000m"}]`,
			[]string{"/spec/containers/0/resources/limits/cpu"},
			func(p *v1.Pod) { p.Spec.Containers[0].Resources.Limits["cpu"] = resource.MustParse("2") },
		},
		"what is below a parent that is replaced": {
			`[{"op":"replace","path":"/spec/containers/1","value":{"name":"log","image":"registry.example/log:3"}}]`,
			[]string{"/spec/containers/1/image"},
			func(p *v1.Pod) { p.Spec.Containers[1].Image = "registry.example/log:3" },
		},
		"what was tested before": {
			`[{"op":"test","path":"/spec/containers/0/ports","value":[{"protocol":"TCP","containerPort":80.0,"name":"http"}]},{"op":"add","path":"/metadata/labels/a","value":""}]`,
			[]string{"/metadata/labels/a"},
			func(p *v1.Pod) { p.Labels["a"] = "" },
		},
		"a label that is null, which is empty": {
			`[{"op":"add","path":"/metadata/labels/a","value":null}]`,
			[]string{"/metadata/labels/a"},
			func(p *v1.Pod) { p.Labels["a"] = "" },
		},
		"the last of what an operation wrote": {
			`[{"op":"add","path":"/metadata/labels/a","value":"1"},{"op":"add","path":"/metadata/labels/a","value":"2"}]`,
			[]string{"/metadata/labels/a"},
			func(p *v1.Pod) { p.Labels["a"] = "2" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := staticPod(t)
			got, want := applied(t, p, test.patch, everything(false)), p.DeepCopy()
			test.edit(want)
			if d := cmp.Diff(want, got.Pod); d != "" {
				t.Errorf("pod: %s", d)
			}
			if d := cmp.Diff(test.changed, got.Changed); d != "" {
				t.Errorf("changed: %s", d)
			}
		})
	}
}

func TestAPatchChangesNothing(t *testing.T) {
	t.Parallel()
	for name, patch := range map[string]string{
		"that has no operation":                     `[]`,
		"that only tests":                           `[{"op":"test","path":"/metadata/name","value":"web-node-1"},{"op":"test","path":"/kind","value":"Pod"}]`,
		"that puts back what it removed":            `[{"op":"remove","path":"/metadata/labels/app"},{"op":"add","path":"/metadata/labels/app","value":"web"}]`,
		"that replaces a list by an equal one":      `[{"op":"replace","path":"/spec/containers/0/env","value":[{"value":"1","name":"A"},{"name":"B","value":"2"}]}]`,
		"that removes what is the default":          `[{"op":"remove","path":"/spec/dnsPolicy"},{"op":"remove","path":"/spec/containers/0/imagePullPolicy"}]`,
		"that writes a quantity in another form":    `[{"op":"replace","path":"/spec/containers/0/resources/limits/cpu","value":"1000m"}]`,
		"that writes null where there is nothing":   `[{"op":"add","path":"/spec/hostNetwork","value":null}]`,
		"that removes the node that the node sets":  `[{"op":"test","path":"/spec/nodeName","value":"Node-1"},{"op":"replace","path":"/spec/nodeName","value":"Node-1"}]`,
		"that has members RFC 6902 does not know":   `[{"op":"test","path":"/kind","value":"Pod","comment":"none","from":7}]`,
		"that adds an element and takes it away":    `[{"op":"add","path":"/spec/volumes/0","value":1},{"op":"remove","path":"/spec/volumes/0"}]`,
		"that removes tolerations the node adds":    `[{"op":"remove","path":"/spec/tolerations"}]`,
		"that replaces the whole by what it is now": ``,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, p := range []*v1.Pod{staticPod(t), apiPod(t)} {
				api := !pod.IsStatic(p)
				if api && name != "that has no operation" && name != "that replaces the whole by what it is now" {
					continue
				}
				patch := patch
				if patch == "" {
					values, err := valuesOf(p)
					must(t, err)
					patch = `[{"op":"replace","path":"","value":` + textOf(t, values) + `}]`
				}
				got := applied(t, p, patch, Reach{API: api})
				if d := cmp.Diff(p, got.Pod); d != "" || got.Changed != nil {
					t.Errorf("changed %v: %s", got.Changed, d)
				}
				if got.Pod == p {
					t.Error("gives the pod itself")
				}
			}
		})
	}
}

func TestAResultSharesNothingWithThePod(t *testing.T) {
	t.Parallel()
	for _, p := range []*v1.Pod{staticPod(t), apiPod(t)} {
		api := !pod.IsStatic(p)
		was := p.DeepCopy()
		got := applied(t, p, `[{"op":"add","path":"/metadata/labels/a","value":"b"}]`, everything(api)).Pod
		got.Labels["x"], got.Annotations["x"] = "y", "y"
		got.Spec.Containers[0].Resources.Limits["cpu"] = resource.MustParse("7")
		got.Spec.Containers[0].Image, got.Spec.Tolerations[0].Key = "x", "x"
		if api {
			got.Finalizers[0], got.OwnerReferences[0].Name = "x", "x"
		}
		if d := cmp.Diff(was, p); d != "" {
			t.Error(d)
		}
	}
}

func TestThePodStaysTheSourcesPod(t *testing.T) {
	t.Parallel()
	for _, p := range []*v1.Pod{staticPod(t), apiPod(t)} {
		got := applied(t, p, `[{"op":"replace","path":"/spec/containers/0/image","value":"x:1"}]`, everything(!pod.IsStatic(p))).Pod
		if d := cmp.Diff(p.ObjectMeta, got.ObjectMeta); d != "" {
			t.Errorf("metadata: %s", d)
		}
		if d := cmp.Diff(p.Status, got.Status); d != "" {
			t.Errorf("status: %s", d)
		}
		before, err := pod.Instance(p)
		must(t, err)
		after, err := pod.Instance(got)
		must(t, err)
		if pod.IsStatic(p) && before != after {
			t.Error("a changed static pod is another instance")
		}
	}
}

func TestPatchesOfSeveralPoliciesFollowEachOther(t *testing.T) {
	t.Parallel()
	for _, p := range []*v1.Pod{staticPod(t), apiPod(t)} {
		r := everything(!pod.IsStatic(p))
		first := applied(t, p, `[{"op":"add","path":"/metadata/labels/a","value":"1"}]`, r)
		second := applied(t, first.Pod, `[{"op":"test","path":"/metadata/labels/a","value":"1"},{"op":"replace","path":"/metadata/labels/a","value":"2"}]`, r)
		if d := cmp.Diff([]string{"/metadata/labels/a"}, second.Changed); d != "" {
			t.Error(d)
		}
		if second.Pod.Labels["a"] != "2" || second.Pod.Name != p.Name || second.Pod.UID != p.UID {
			t.Errorf("pod %+v", second.Pod.ObjectMeta)
		}
	}
}

func TestAPodThatIsToEndIsCheckedAsAnyOther(t *testing.T) {
	t.Parallel()
	p := apiPod(t)
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = p.CreationTimestamp.DeepCopy(), new(int64(5))
	refused(t, p, `[{"op":"replace","path":"/spec/containers/0/image","value":" "}]`, everything(true), ErrPatch, "must not have leading or trailing whitespace")
	got := applied(t, p, `[{"op":"replace","path":"/spec/containers/0/image","value":"x:1"}]`, everything(true)).Pod
	if !got.DeletionTimestamp.Equal(p.DeletionTimestamp) || *got.DeletionGracePeriodSeconds != 5 {
		t.Errorf("deletion %v, %v", got.DeletionTimestamp, got.DeletionGracePeriodSeconds)
	}
}

func TestAMirrorPodIsNotPatched(t *testing.T) {
	t.Parallel()
	p := apiPod(t)
	p.Annotations[pod.AnnotationMirror] = "x"
	refused(t, p, `[]`, everything(true), ErrReach, "a mirror pod is the API server's picture of a static pod")
}
