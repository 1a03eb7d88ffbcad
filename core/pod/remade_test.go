package pod

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// For every field that a newer version of the API adds, the tables of effects must say whether
// something that runs is made from the field.
func TestRemade_knowsEveryFieldOfASpec(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		of      reflect.Type
		effects map[string]effect
		prefix  string
	}{
		{reflect.TypeFor[v1.PodSpec](), podEffects, "spec."},
		{reflect.TypeFor[v1.Container](), containerEffects, "spec.containers[0]."},
	} {
		known := maps.Clone(tc.effects)
		for i := range tc.of.NumField() {
			f := tc.of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			want, ok := known[name]
			delete(known, name)
			if !ok {
				t.Errorf("nothing says how a change of %s%s takes effect: add it to remade.go", tc.prefix, name)
				continue
			}
			for path, changed := range changesOf(t, f.Type, tc.prefix+name) {
				before, after := remadePod(), remadePod()
				target := reflect.ValueOf(&after.Spec).Elem()
				if tc.of == reflect.TypeFor[v1.Container]() {
					target = reflect.ValueOf(&after.Spec.Containers[0]).Elem()
				}
				target.Field(i).Set(changed)
				got, back := Remade(before, after), Remade(after, before)
				if (got != "") != (want == anew) || got != back {
					t.Errorf("%s changed: remade for %q, and back for %q", path, got, back)
				}
				if got != "" && !strings.HasPrefix(path, got) {
					if name != "containers" && name != "initContainers" || !strings.HasPrefix(got, tc.prefix+name+"[") {
						t.Errorf("%s changed: %q is named", path, got)
					}
				}
				if same := madeOf(t, before) == madeOf(t, after); same != (got == "") {
					t.Errorf("%s changed: the same mark %t, remade for %q", path, same, got)
				}
			}
		}
		for name := range known {
			t.Errorf("%s%s is no field any more: take it out of remade.go", tc.prefix, name)
		}
	}
}

// changesOf returns values of a type. Each has one field set, and its key is the path of that
// field.
func changesOf(t *testing.T, of reflect.Type, path string) map[string]reflect.Value {
	t.Helper()
	values := map[string]reflect.Value{}
	within := func(inner map[string]reflect.Value, wrap func(reflect.Value) reflect.Value) {
		for at, v := range inner {
			values[at] = wrap(v)
		}
	}
	fresh := reflect.New(of).Elem()
	switch {
	case of == reflect.TypeFor[resource.Quantity]():
		fresh.Set(reflect.ValueOf(resource.MustParse("7")))
		values[path] = fresh
		return values
	case of.Kind() == reflect.Struct && reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]()):
		if f := fresh.FieldByName("IntVal"); f.IsValid() {
			f.SetInt(7)
			values[path] = fresh
		}
		return values // nothing that runs is made from a time
	}
	switch of.Kind() {
	case reflect.Struct:
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			within(changesOf(t, of.Field(i).Type, strings.TrimSuffix(path+"."+name, ".")), func(v reflect.Value) reflect.Value {
				s := reflect.New(of).Elem()
				s.Field(i).Set(v)
				return s
			})
		}
	case reflect.Pointer:
		within(changesOf(t, of.Elem(), path), func(v reflect.Value) reflect.Value {
			p := reflect.New(of.Elem())
			p.Elem().Set(v)
			return p
		})
	case reflect.Slice:
		within(changesOf(t, of.Elem(), path+"[0]"), func(v reflect.Value) reflect.Value {
			if c, ok := reflect.TypeAssert[v1.Container](v); ok && c.Name == "" {
				c.Name = "another" // every container has a name
				v = reflect.ValueOf(c)
			}
			return reflect.Append(fresh, v)
		})
	case reflect.Map:
		within(changesOf(t, of.Elem(), path+"[k]"), func(v reflect.Value) reflect.Value {
			m := reflect.MakeMap(of)
			m.SetMapIndex(reflect.ValueOf("k").Convert(of.Key()), v)
			return m
		})
	case reflect.String:
		values[path] = reflect.ValueOf("other").Convert(of)
	case reflect.Bool:
		values[path] = reflect.ValueOf(true)
	case reflect.Int32, reflect.Int64, reflect.Int:
		values[path] = reflect.ValueOf(7).Convert(of)
	case reflect.Uint8:
		values[path] = reflect.ValueOf(uint8(7))
	default:
		t.Errorf("%s: the test makes no %s", path, of)
	}
	return values
}

func remadePod() *v1.Pod {
	return &v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{{Name: "main"}}}}
}

func madeOf(t *testing.T, p *v1.Pod) string {
	t.Helper()
	made, err := MadeFrom(p)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestRemade_namesTheFieldThatDiffers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		edit func(s *v1.PodSpec)
		want string
	}{
		"nothing":            {func(*v1.PodSpec) {}, ""},
		"args":               {func(s *v1.PodSpec) { s.Containers[0].Args = []string{"two"} }, "spec.containers[0].args"},
		"no args any more":   {func(s *v1.PodSpec) { s.Containers[0].Args = nil }, "spec.containers[0].args"},
		"a variable":         {func(s *v1.PodSpec) { s.Containers[1].Env[0].Value = "b" }, "spec.containers[1].env"},
		"an empty list":      {func(s *v1.PodSpec) { s.Containers[0].Command = []string{} }, ""},
		"an empty argument":  {func(s *v1.PodSpec) { s.Containers[0].Args = []string{"one", ""} }, "spec.containers[0].args"},
		"a limit":            {func(s *v1.PodSpec) { limit(s, "128Mi") }, "spec.containers[0].resources"},
		"a limit's spelling": {func(s *v1.PodSpec) { limit(s, "67108864") }, ""},
		"another container":  {func(s *v1.PodSpec) { s.Containers = s.Containers[:1] }, "spec.containers[1].env"},
		"their order":        {func(s *v1.PodSpec) { slices.Reverse(s.Containers) }, "spec.containers[0].args"},
		"a host's path":      {func(s *v1.PodSpec) { s.Volumes[0].HostPath.Path = "/etc" }, "spec.volumes"},
		"another kind": {func(s *v1.PodSpec) {
			s.Volumes[0] = v1.Volume{Name: "v", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}
		}, "spec.volumes"},
		"false instead of nil": {func(s *v1.PodSpec) { s.ShareProcessNamespace = new(false) }, "spec.shareProcessNamespace"},
		"sysctls": {func(s *v1.PodSpec) {
			s.SecurityContext = &v1.PodSecurityContext{Sysctls: []v1.Sysctl{{Name: "net.ipv4.ip_unprivileged_port_start", Value: "0"}}}
		}, "spec.securityContext"},
		"what changes in place": {func(s *v1.PodSpec) {
			s.Containers[0].Image, s.Containers[0].ImagePullPolicy = "web:2", v1.PullAlways
			s.ActiveDeadlineSeconds, s.TerminationGracePeriodSeconds = new(int64(9)), new(int64(9))
			s.Tolerations, s.RestartPolicy, s.Priority = []v1.Toleration{{Key: "a"}}, v1.RestartPolicyNever, new(int32(9))
		}, ""},
	} {
		made := func() *v1.Pod {
			p := &v1.Pod{Spec: v1.PodSpec{
				Containers: []v1.Container{{Name: "main", Args: []string{"one"}}, {Name: "side", Env: []v1.EnvVar{{Name: "A", Value: "a"}}}},
				Volumes:    []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{HostPath: &v1.HostPathVolumeSource{Path: "/data"}}}},
			}}
			limit(&p.Spec, "64Mi")
			return p
		}
		before, after := made(), made()
		tc.edit(&after.Spec)
		if got := Remade(before, after); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if same := madeOf(t, before) == madeOf(t, after); same != (tc.want == "") {
			t.Errorf("%s: the same mark: %t", name, same)
		}
	}
	if got := Remade(nil, remadePod()); got != "" {
		t.Errorf("nothing became a pod: %q", got)
	}
}

func limit(s *v1.PodSpec, memory string) {
	s.Containers[0].Resources.Limits = v1.ResourceList{v1.ResourceMemory: resource.MustParse(memory)}
}
