package eval

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

// rich returns a pod with values in many fields.
func rich() *v1.Pod {
	cpu := v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": resource.MustParse("1")}}
	return policytest.SomePod("web", func(p *v1.Pod) {
		p.Annotations["team"] = "a"
		p.Spec = v1.PodSpec{
			InitContainers: []v1.Container{{Name: "init", Image: "one"}},
			Containers:     []v1.Container{{Name: "main", Image: "two", Resources: cpu}, {Name: "side", Image: "three"}},
			EphemeralContainers: []v1.EphemeralContainer{
				{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "debug", Image: "four"}},
			},
			Tolerations: []v1.Toleration{{Key: "a"}},
		}
	})
}

func TestAnUpdateChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*v1.Pod)
		want   string
	}{
		"nothing":                     {func(*v1.Pod) {}, ""},
		"the status":                  {func(p *v1.Pod) { p.Status.Phase = v1.PodRunning }, ""},
		"when it was deleted":         {func(p *v1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(time.Unix(1, 0))) }, ""},
		"its version":                 {func(p *v1.Pod) { p.ResourceVersion, p.Generation = "7", 7 }, ""},
		"a label":                     {func(p *v1.Pod) { p.Labels["tier"] = "db" }, "labels"},
		"an annotation":               {func(p *v1.Pod) { delete(p.Annotations, "team") }, "annotations"},
		"what only this node writes":  {func(p *v1.Pod) { p.Annotations[pod.AnnotationSeen] = "now" }, ""},
		"an init container's image":   {func(p *v1.Pod) { p.Spec.InitContainers[0].Image = "x" }, "images"},
		"an image":                    {func(p *v1.Pod) { p.Spec.Containers[1].Image = "x" }, "images"},
		"an ephemeral image":          {func(p *v1.Pod) { p.Spec.EphemeralContainers[0].Image = "x" }, "images"},
		"two images for each other":   {func(p *v1.Pod) { c := p.Spec.Containers; c[0].Image, c[1].Image = c[1].Image, c[0].Image }, "images"},
		"a request":                   {func(p *v1.Pod) { p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("2") }, "resources"},
		"a request's writing":         {func(p *v1.Pod) { p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("1000m") }, ""},
		"a container's first request": {func(p *v1.Pod) { p.Spec.Containers[1].Resources = p.Spec.Containers[0].Resources }, "resources"},
		"empty resources for none":    {func(p *v1.Pod) { p.Spec.Containers[1].Resources.Limits = v1.ResourceList{} }, ""},
		"the resources of the pod":    {func(p *v1.Pod) { p.Spec.Resources = &p.Spec.Containers[0].Resources }, "resources"},
		"a command":                   {func(p *v1.Pod) { p.Spec.Containers[0].Command = []string{"x"} }, "containers"},
		"an ephemeral command":        {func(p *v1.Pod) { p.Spec.EphemeralContainers[0].Command = []string{"x"} }, "containers"},
		"the order of containers":     {func(p *v1.Pod) { c := p.Spec.Containers; c[0], c[1] = c[1], c[0] }, "containers"},
		"a container's name":          {func(p *v1.Pod) { p.Spec.Containers[1].Name = "x" }, "images containers"},
		"one container more":          {func(p *v1.Pod) { p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: "x", Image: "x"}) }, "images containers"},
		"one ephemeral container more": {func(p *v1.Pod) {
			p.Spec.EphemeralContainers = append(p.Spec.EphemeralContainers, v1.EphemeralContainer{})
		}, "images containers"},
		"one with requests less": {func(p *v1.Pod) { p.Spec.Containers = p.Spec.Containers[1:] }, "images resources containers"},
		"a container's kind": {func(p *v1.Pod) {
			p.Spec.InitContainers, p.Spec.Containers = nil, append(p.Spec.Containers, p.Spec.InitContainers...)
		}, "images containers"},
		"a toleration":              {func(p *v1.Pod) { p.Spec.Tolerations[0].Key = "b" }, "tolerations"},
		"the deadline":              {func(p *v1.Pod) { p.Spec.ActiveDeadlineSeconds = new(int64(1)) }, "deadline"},
		"the grace":                 {func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = new(int64(1)) }, "grace"},
		"the grace of its deletion": {func(p *v1.Pod) { p.DeletionGracePeriodSeconds = new(int64(1)) }, "grace"},
		"a volume":                  {func(p *v1.Pod) { p.Spec.Volumes = []v1.Volume{{Name: "x"}} }, "spec"},
		"everything": {func(p *v1.Pod) {
			p.Labels, p.Annotations = nil, nil
			p.Spec = v1.PodSpec{ActiveDeadlineSeconds: new(int64(1)), TerminationGracePeriodSeconds: new(int64(1)), HostPID: true}
		}, "labels annotations images resources containers tolerations deadline grace spec"},
	} {
		q := api.Question{Op: api.UpdateOp, Old: rich(), Pod: rich()}
		test.change(q.Pod)
		kept := q.Pod.DeepCopy()
		if got := strings.Join(Changes(&q), " "); got != test.want {
			t.Errorf("%s: changed %q, want %q", name, got, test.want)
		}
		if diff := cmp.Diff(kept, q.Pod) + cmp.Diff(rich(), q.Old); diff != "" {
			t.Errorf("%s: asking for it changed the pods:\n%s", name, diff)
		}
		q.Old, q.Pod = q.Pod, q.Old
		if got := strings.Join(Changes(&q), " "); got != test.want {
			t.Errorf("%s, undone: changed %q, want %q", name, got, test.want)
		}
	}
}

func TestOnlyUpdatesChangeSomething(t *testing.T) {
	t.Parallel()
	other := rich()
	other.Labels = nil
	for name, q := range map[string]api.Question{
		"a new pod":                    {Op: api.Add, Pod: rich()},
		"a pod that replaces another":  {Op: api.Add, Pod: rich(), Old: other, Replaces: "uid"},
		"an update of nobody knows":    {Op: api.UpdateOp, Pod: rich()},
		"an update to the same object": {Op: api.UpdateOp, Pod: other, Old: other},
	} {
		if got := Changes(&q); got != nil {
			t.Errorf("%s: changed %q", name, got)
		}
	}
}

// fill sets v to a value other than zero.
func fill(v reflect.Value) {
	if v.Type() == reflect.TypeFor[resource.Quantity]() {
		v.Set(reflect.ValueOf(resource.MustParse("7")))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("filled")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		fill(v.Field(0))
	}
}

// eachField changes each field of the struct that in returns for a pod, one at a time, and
// checks the word for the change. The word is rest, unless words has another for the field.
func eachField(t *testing.T, in func(*v1.Pod) any, rest string, words map[string]string) {
	t.Helper()
	fields := reflect.VisibleFields(reflect.TypeOf(in(rich())).Elem())
	found := 0
	for _, f := range fields {
		if f.Anonymous {
			continue
		}
		q := api.Question{Op: api.UpdateOp, Old: rich(), Pod: rich()}
		reflect.ValueOf(in(q.Old)).Elem().FieldByIndex(f.Index).SetZero()
		target := reflect.ValueOf(in(q.Pod)).Elem().FieldByIndex(f.Index)
		fill(target)
		if target.IsZero() {
			t.Fatalf("%s was not filled", f.Name)
		}
		want, named := words[f.Name]
		if !named {
			want = rest
		} else {
			found++
		}
		if got := strings.Join(Changes(&q), " "); got != want {
			t.Errorf("%s: changed %q, want %q", f.Name, got, want)
		}
	}
	if found != len(words) || len(fields) < 20 {
		t.Errorf("%d fields, of them %d of %d with words", len(fields), found, len(words))
	}
}

func TestNoFieldChangesUnsaid(t *testing.T) {
	t.Parallel()
	eachField(t, func(p *v1.Pod) any { return &p.Spec }, "spec", map[string]string{
		"InitContainers": "images containers", "Containers": "images containers", "EphemeralContainers": "images containers",
		"Resources": "resources", "Tolerations": "tolerations", "ActiveDeadlineSeconds": "deadline", "TerminationGracePeriodSeconds": "grace",
	})
	container := map[string]string{"Name": "images containers", "Image": "images", "Resources": "resources"}
	eachField(t, func(p *v1.Pod) any { return &p.Spec.InitContainers[0] }, "containers", container)
	eachField(t, func(p *v1.Pod) any { return &p.Spec.Containers[1] }, "containers", container)
	eachField(t, func(p *v1.Pod) any { return &p.Spec.EphemeralContainers[0] }, "containers", container)
}

func TestTheWordsForChangesAreThoseOfTheABIAndTheSDK(t *testing.T) {
	t.Parallel()
	want := []string{
		changedLabels, changedAnnotations, changedImages, changedResources, changedContainers,
		changedTolerations, changedDeadline, changedGrace, changedSpec,
	}
	for file, find := range map[string]struct{ from, to, word string }{
		"../../../docs/abi.md":                    {"| `request.changed` | list of strings | what an `UPDATE` changed: ", "(anything else)", "`([a-z]+)`"},
		"../../../plugins/sdk/request/changed.go": {"const (", ")", `(?m)^\t[A-Z]\w* += "([a-z]+)"$`},
		"../../../plugins/sdk/sdktest/request.go": {"words = []string{", "}", `"([a-z]+)"`},
	} {
		text, err := os.ReadFile(file)
		policytest.Must(t, err)
		_, after, ok := strings.Cut(string(text), find.from)
		part, _, ends := strings.Cut(after, find.to)
		if !ok || !ends {
			t.Errorf("%s has no list of words after %q", file, find.from)
			continue
		}
		var words []string
		for _, m := range regexp.MustCompile(find.word).FindAllStringSubmatch(part, -1) {
			words = append(words, m[1])
		}
		if diff := cmp.Diff(want, words); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}
