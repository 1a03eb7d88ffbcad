package mutate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
)

func TestAPolicyMayChange(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		paths []string
		step  step
		// want is a part of the error, empty if the change is within reach.
		want string
	}{
		"nothing, without paths": {
			nil,
			step{"add", "/metadata/labels/a", `"b"`},
			`it changes "/metadata/labels/a"; the policy may change nothing, its mutable_paths are empty: add the path to its mutable_paths, or have the plugin leave it alone`,
		},
		"a path":               {[]string{"/spec/containers/0/image"}, step{"replace", "/spec/containers/0/image", `"x:1"`}, ""},
		"what is below a path": {[]string{"/spec/containers"}, step{"replace", "/spec/containers/0/image", `"x:1"`}, ""},
		"an element of any":    {[]string{"/spec/containers/*/image"}, step{"replace", "/spec/containers/1/image", `"x:1"`}, ""},
		"a key of any":         {[]string{"/metadata/labels/*"}, step{"add", "/metadata/labels/a", `"b"`}, ""},
		"below several of any": {[]string{"/spec/containers/*/env/*"}, step{"add", "/spec/containers/1/env", `[{"name":"A"}]`}, ""},
		"a key with a slash":   {[]string{"/metadata/labels/example.org~1team"}, step{"add", "/metadata/labels/example.org~1team", `"b"`}, ""},
		"one of several":       {[]string{"/spec/dnsPolicy", "/metadata/labels"}, step{"add", "/metadata/labels/a", `"b"`}, ""},
		"all of what comes":    {[]string{"/spec/containers/*/command/0", "/spec/containers/*/command/1"}, step{"add", "/spec/containers/0/command", `["a","b"]`}, ""},
		"no other element":     {[]string{"/spec/containers/0/image"}, step{"replace", "/spec/containers/1/image", `"x:1"`}, `it changes "/spec/containers/1/image"; the policy may change only /spec/containers/0/image`},
		"no other field":       {[]string{"/spec/containers/*/image"}, step{"add", "/spec/containers/1/tty", `true`}, `it changes "/spec/containers/1/tty"`},
		"no name that begins so": {
			[]string{"/metadata/labels/a"}, step{"add", "/metadata/labels/ab", `"x"`}, `it changes "/metadata/labels/ab"`,
		},
		"no key whose escape it is": {[]string{"/metadata/labels/example.org"}, step{"add", "/metadata/labels/example.org~1team", `"b"`}, `it changes "/metadata/labels/example.org~1team"`},
		"nothing above a path":      {[]string{"/spec/containers/0/env/*/value"}, step{"remove", "/spec/containers/0/env", ""}, `it changes "/spec/containers/0/env/0/name"`},
		"not a part of what comes":  {[]string{"/spec/containers/*/command/0"}, step{"add", "/spec/containers/0/command", `["a","b"]`}, `it changes "/spec/containers/0/command/1"`},
		"no new element by fields":  {[]string{"/spec/containers/*/image"}, step{"add", "/spec/containers/-", `{"name":"n","image":"i"}`}, `it changes "/spec/containers/2/imagePullPolicy"`},
		"not what follows from it":  {[]string{"/spec/hostNetwork"}, step{"add", "/spec/hostNetwork", `true`}, `it changes "/spec/containers/0/ports/0/hostPort"`},
		"not by a path that is bad": {[]string{"spec", "", "/", "/*", "/spec/containers/~/image"}, step{"add", "/spec/hostNetwork", `true`}, `it changes "/spec/containers/0/ports/0/hostPort"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := staticPod(t)
			for way, patch := range waysTo(t, p, test.step) {
				t.Run(way, func(t *testing.T) {
					t.Parallel()
					if r := (Reach{Paths: test.paths}); test.want != "" {
						refused(t, p, patch, r, ErrReach, test.want)
					} else if got := applied(t, p, patch, r); len(got.Changed) != 1 {
						t.Errorf("changed %v", got.Changed)
					}
				})
			}
		})
	}
}

func TestTheFirstLabelIsWithinReachOfItsPath(t *testing.T) {
	t.Parallel()
	p := staticPod(t)
	p.Labels = nil
	const patch = `[{"op":"add","path":"/metadata/labels","value":{"team":"a"}}]`
	got := applied(t, p, patch, Reach{Paths: []string{"/metadata/labels/team"}})
	if d := cmp.Diff([]string{"/metadata/labels"}, got.Changed); d != "" {
		t.Error(d)
	}
	refused(t, p, patch, Reach{Paths: []string{"/metadata/labels/app"}}, ErrReach, `it changes "/metadata/labels/team"`)
	back := applied(t, got.Pod, `[{"op":"remove","path":"/metadata/labels/team"}]`, Reach{Paths: []string{"/metadata/labels/team"}})
	if d := cmp.Diff([]string{"/metadata/labels"}, back.Changed); d != "" {
		t.Error(d)
	}
}

func TestAnEmptyObjectIsAChange(t *testing.T) {
	t.Parallel()
	p := staticPod(t)
	const patch = `[{"op":"add","path":"/spec/containers/1/securityContext","value":{}}]`
	got := applied(t, p, patch, Reach{Paths: []string{"/spec/containers/*/securityContext"}})
	if got.Pod.Spec.Containers[1].SecurityContext == nil || len(got.Changed) != 1 {
		t.Errorf("changed %v", got.Changed)
	}
	refused(t, p, patch, Reach{Paths: []string{"/spec/containers/*/securityContext/privileged"}}, ErrReach, `it changes "/spec/containers/1/securityContext"`)
}

func TestAPIPodsChangeOnlyWithMutateAPI(t *testing.T) {
	t.Parallel()
	const patch = `[{"op":"replace","path":"/spec/containers/0/image","value":"x:1"}]`
	r := Reach{Paths: []string{"/spec/containers/*/image"}, API: true}
	refused(t, apiPod(t), patch, r, ErrReach, `it changes "/spec/containers/0/image" of a pod that an API server has, which policies may only where agent.toml says policy.mutate_api = true`)
	applied(t, apiPod(t), `[{"op":"test","path":"/kind","value":"Pod"}]`, r)
	r.MutateAPI = true
	if got := applied(t, apiPod(t), patch, r); got.Pod.Spec.Containers[0].Image != "x:1" {
		t.Errorf("image %s", got.Pod.Spec.Containers[0].Image)
	}
	r.Paths = nil
	refused(t, apiPod(t), patch, r, ErrReach, "the policy may change nothing")
}

func TestOfAnAPIPodAPolicyMayChange(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		patch   string
		changed string
		ok      func(p *v1.Pod) bool
	}{
		"images": {
			`[{"op":"replace","path":"/spec/containers/0/image","value":"x:1"}]`, "/spec/containers/0/image",
			func(p *v1.Pod) bool { return p.Spec.Containers[0].Image == "x:1" },
		},
		"the variables of a container": {
			`[{"op":"add","path":"/spec/containers/0/env","value":[{"name":"A","value":"1"}]}]`, "/spec/containers/0/env",
			func(p *v1.Pod) bool { return p.Spec.Containers[0].Env[0].Name == "A" },
		},
		"a limit": {
			`[{"op":"replace","path":"/spec/containers/0/resources/limits/cpu","value":"2"}]`, "/spec/containers/0/resources/limits/cpu",
			func(p *v1.Pod) bool { return p.Spec.Containers[0].Resources.Limits.Cpu().String() == "2" },
		},
		"the content of a volume": {
			`[{"op":"replace","path":"/spec/volumes/1/hostPath/path","value":"/other"}]`, "/spec/volumes/1/hostPath/path",
			func(p *v1.Pod) bool { return p.Spec.Volumes[1].HostPath.Path == "/other" },
		},
		"tolerations": {
			`[{"op":"replace","path":"/spec/tolerations/0/tolerationSeconds","value":5}]`, "/spec/tolerations/0/tolerationSeconds",
			func(p *v1.Pod) bool { return *p.Spec.Tolerations[0].TolerationSeconds == 5 },
		},
		"labels": {
			`[{"op":"add","path":"/metadata/labels/a","value":"b"}]`, "/metadata/labels/a",
			func(p *v1.Pod) bool { return p.Labels["a"] == "b" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := applied(t, apiPod(t), test.patch, everything(true))
			if !test.ok(got.Pod) || strings.Join(got.Changed, " ") != test.changed {
				t.Errorf("changed %v: %+v", got.Changed, got.Pod.Spec)
			}
		})
	}
}
