package mutate

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// step is the patch operation of a test case.
type step struct{ op, path, value string }

func (s step) String() string {
	patch := `{"op":"` + s.op + `","path":"` + s.path + `"`
	if s.op != opRemove {
		patch += `,"value":` + s.value
	}
	return patch + `}`
}

// waysTo returns patches with the same effect as a step: the step itself, the step with JSON
// escapes, and one that replaces a parent for each parent up to the whole document.
func waysTo(t *testing.T, p *v1.Pod, s step) map[string]string {
	t.Helper()
	path := s.path
	last := strings.LastIndexByte(path, '/') + 1
	spelled := s
	spelled.path = path[:last] + strings.Replace(strings.Replace(path[last:], "e", `\u0065`, 1), "a", `\u0061`, 1)
	ways := map[string]string{"directly": "[" + s.String() + "]", "spelled otherwise": "[" + spelled.String() + "]"}

	values, err := valuesOf(p)
	must(t, err)
	operations, err := readPatch([]byte("[" + s.String() + "]"))
	must(t, err)
	done := steps{root: cloned(values)}
	must(t, done.applyAll(operations))
	at := operations[0].at
	for n := range at {
		parent, here := at[:n], done.root
		for _, token := range parent {
			switch in := here.(type) {
			case map[string]any:
				here = in[token]
			case []any:
				i, _ := indexOf(token)
				here = in[i]
			}
		}
		ways["through "+place(parent)] = `[{"op":"replace","path":"` + parent.String() + `","value":` + textOf(t, here) + `}]`
	}
	return ways
}

func TestNoPolicyMayChange(t *testing.T) {
	t.Parallel()
	const (
		ofMetadata = "of the metadata only labels and annotations can change"
		identity   = "it is the pod's identity"
		own        = "what begins with wardlet.dev/ is the agent's own"
		config     = "only a node agent writes annotations that begin with kubernetes.io/config."
	)
	for name, test := range map[string]struct {
		pod  func(testing.TB) *v1.Pod
		step step
		why  string
	}{
		"the name":                       {staticPod, step{"replace", "/metadata/name", `"x"`}, identity},
		"the name, by removing it":       {staticPod, step{"remove", "/metadata/name", ""}, identity},
		"the name of an API pod":         {apiPod, step{"replace", "/metadata/name", `"x"`}, identity},
		"what the name was made from":    {apiPod, step{"replace", "/metadata/generateName", `"x-"`}, identity},
		"a generateName that comes":      {staticPod, step{"add", "/metadata/generateName", `"x-"`}, identity},
		"the namespace":                  {staticPod, step{"replace", "/metadata/namespace", `"kube-system"`}, identity},
		"the namespace of an API pod":    {apiPod, step{"replace", "/metadata/namespace", `"kube-system"`}, identity},
		"the UID":                        {staticPod, step{"replace", "/metadata/uid", `"x"`}, identity},
		"the UID of an API pod":          {apiPod, step{"remove", "/metadata/uid", ""}, identity},
		"the identity annotation":        {staticPod, step{"replace", "/metadata/annotations/wardlet.dev~1identity", `"other"`}, identity},
		"an identity that goes":          {staticPod, step{"remove", "/metadata/annotations/wardlet.dev~1identity", ""}, identity},
		"an identity that comes":         {apiPod, step{"add", "/metadata/annotations/wardlet.dev~1identity", `"other"`}, identity},
		"the resource version":           {apiPod, step{"replace", "/metadata/resourceVersion", `"1"`}, ofMetadata},
		"the generation":                 {apiPod, step{"replace", "/metadata/generation", `7`}, ofMetadata},
		"the self link":                  {apiPod, step{"add", "/metadata/selfLink", `"x"`}, ofMetadata},
		"when it was created":            {apiPod, step{"replace", "/metadata/creationTimestamp", `"2020-01-01T00:00:00Z"`}, ofMetadata},
		"when a static pod was created":  {staticPod, step{"add", "/metadata/creationTimestamp", `"2020-01-01T00:00:00Z"`}, ofMetadata},
		"when it is to be deleted":       {apiPod, step{"add", "/metadata/deletionTimestamp", `"2020-01-01T00:00:00Z"`}, ofMetadata},
		"its grace":                      {apiPod, step{"add", "/metadata/deletionGracePeriodSeconds", `0`}, ofMetadata},
		"its owners":                     {apiPod, step{"replace", "/metadata/ownerReferences/0/controller", `false`}, ofMetadata},
		"owners that go":                 {apiPod, step{"remove", "/metadata/ownerReferences", ""}, ofMetadata},
		"its finalizers":                 {apiPod, step{"remove", "/metadata/finalizers/0", ""}, ofMetadata},
		"finalizers that come":           {staticPod, step{"add", "/metadata/finalizers", `["a/b"]`}, ofMetadata},
		"who manages which field":        {apiPod, step{"add", "/metadata/managedFields", `[]`}, ofMetadata},
		"a field of metadata there's no": {staticPod, step{"add", "/metadata/nam", `"x"`}, ofMetadata},
		"the node":                       {staticPod, step{"replace", "/spec/nodeName", `"other"`}, "the pod is this node's"},
		"the node of an API pod":         {apiPod, step{"remove", "/spec/nodeName", ""}, "the pod is this node's"},
		"the status":                     {staticPod, step{"add", "/status", `{"phase":"Succeeded"}`}, "the agent alone reports the status"},
		"an empty status":                {apiPod, step{"add", "/status", `{}`}, "the agent alone reports the status"},
		"the kind":                       {staticPod, step{"replace", "/kind", `"Node"`}, "of a pod only labels, annotations and spec can change"},
		"the API's version":              {apiPod, step{"replace", "/apiVersion", `"v2"`}, "of a pod only labels, annotations and spec can change"},
		"another key of the whole":       {staticPod, step{"add", "/x", `1`}, "of a pod only labels, annotations and spec can change"},
		"the hash of the document":       {staticPod, step{"replace", "/metadata/annotations/kubernetes.io~1config.hash", `"x"`}, config},
		"the source of the document":     {staticPod, step{"replace", "/metadata/annotations/kubernetes.io~1config.source", `"api"`}, config},
		"a source that goes":             {apiPod, step{"remove", "/metadata/annotations/kubernetes.io~1config.source", ""}, config},
		"what makes it a mirror":         {apiPod, step{"add", "/metadata/annotations/kubernetes.io~1config.mirror", `"x"`}, config},
		"an annotation with a tilde":     {staticPod, step{"add", "/metadata/annotations/kubernetes.io~1config.~0x", `"x"`}, config},
		"an annotation of the agent":     {staticPod, step{"add", "/metadata/annotations/wardlet.dev~1final-object", `"x"`}, own},
		"an annotation that is null":     {apiPod, step{"add", "/metadata/annotations/wardlet.dev~1instance", `null`}, own},
		"a label of the agent":           {staticPod, step{"add", "/metadata/labels/wardlet.dev~1tenant", `"x"`}, own},
		"an identity that is a label":    {apiPod, step{"add", "/metadata/labels/wardlet.dev~1identity", `"x"`}, own},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := test.pod(t)
			r := everything(p.ResourceVersion != "")
			r.Paths = append(r.Paths, test.step.path)
			at, err := parsePointer(test.step.path)
			must(t, err)
			for way, patch := range waysTo(t, p, test.step) {
				t.Run(way, func(t *testing.T) {
					t.Parallel()
					// The error may name a field below the place.
					refused(t, p, patch, r, ErrReach, "it changes \""+at.String())
					refused(t, p, patch, r, ErrReach, ", which no policy may: "+test.why)
				})
			}
		})
	}
}

func TestOfAnAPIPodNoPolicyMayChange(t *testing.T) {
	t.Parallel()
	const (
		none    = "none can be added or removed"
		names   = "keep the names that the API server knows"
		ports   = "the ports are known to the API server"
		account = "the service account is the API server's to give"
		request = "the scheduler chose the node by the requests"
		class   = "the scheduler chose the node by the runtime class and its overhead"
	)
	container := `{"name":"new","image":"i","imagePullPolicy":"Always","terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","resources":{}}`
	for name, test := range map[string]struct {
		step step
		why  string
	}{
		"a container that comes":           {step{"add", "/spec/containers/-", container}, none},
		"a container that comes first":     {step{"add", "/spec/containers/0", container}, names},
		"a container that goes":            {step{"remove", "/spec/containers/1", ""}, none},
		"the name of a container":          {step{"replace", "/spec/containers/1/name", `"x"`}, names},
		"a volume that comes":              {step{"add", "/spec/volumes/-", `{"name":"x","emptyDir":{}}`}, none},
		"a volume that goes":               {step{"remove", "/spec/volumes/1", ""}, none},
		"the name of a volume":             {step{"replace", "/spec/volumes/1/name", `"x"`}, names},
		"ports that go":                    {step{"remove", "/spec/containers/0/ports", ""}, ports},
		"ports that come":                  {step{"add", "/spec/containers/1/ports", `[{"containerPort":1,"protocol":"TCP"}]`}, ports},
		"a port":                           {step{"replace", "/spec/containers/0/ports/0/containerPort", `81`}, ports},
		"a port of the host":               {step{"add", "/spec/containers/0/ports/0/hostPort", `81`}, ports},
		"ports, by what follows":           {step{"add", "/spec/hostNetwork", `true`}, ports},
		"a request":                        {step{"replace", "/spec/containers/0/resources/requests/cpu", `"1m"`}, request},
		"a request that comes":             {step{"add", "/spec/containers/0/resources/requests/memory", `"1Mi"`}, request},
		"requests, by what follows":        {step{"add", "/spec/containers/1/resources/limits", `{"cpu":"1"}`}, request},
		"requests that go with all limits": {step{"replace", "/spec/containers/0/resources", `{}`}, request},
		"the service account":              {step{"replace", "/spec/serviceAccountName", `"x"`}, account},
		"the service account's old name":   {step{"remove", "/spec/serviceAccount", ""}, account},
		"the runtime class":                {step{"add", "/spec/runtimeClassName", `"x"`}, class},
		"what a sandbox takes":             {step{"add", "/spec/overhead", `{"cpu":"1m"}`}, class},
		"whether its token is mounted":     {step{"replace", "/spec/automountServiceAccountToken", `true`}, account},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := apiPod(t)
			for way, patch := range waysTo(t, p, test.step) {
				t.Run(way, func(t *testing.T) {
					t.Parallel()
					refused(t, p, patch, everything(true), ErrReach, test.why)
				})
			}
		})
	}
}

// TestOfAnAPIPodNoPolicyMayChangeAlso covers fields of API pods that this version does not
// support: the rules apply to them too.
func TestOfAnAPIPodNoPolicyMayChangeAlso(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before, after string
		want          string
	}{
		{`{}`, `{"initContainers":[{"name":"i"}]}`, "/spec/initContainers"},
		{`{"initContainers":[{"name":"i"}]}`, `{"initContainers":[{"name":"j"}]}`, "/spec/initContainers/0/name"},
		{`{"initContainers":[{"name":"i"},{"name":"j"}]}`, `{"initContainers":[{"name":"i"}]}`, "/spec/initContainers/1"},
		{`{"initContainers":[{"name":"i"}]}`, `{"initContainers":[{"name":"i","ports":[{"containerPort":1}]}]}`, "/spec/initContainers/0/ports"},
		{`{"ephemeralContainers":[{"name":"i"}]}`, `{"ephemeralContainers":[]}`, "/spec/ephemeralContainers/0"},
		{`{"ephemeralContainers":[{"name":"i"}]}`, `{}`, "/spec/ephemeralContainers"},
		{`{}`, `{"resources":{"limits":{"cpu":"1"},"requests":{"cpu":"1"}}}`, "/spec/resources/requests"},
		{`{"resources":{"requests":{"cpu":"1"}}}`, `{"resources":{"requests":{"cpu":"2"}}}`, "/spec/resources/requests/cpu"},
	} {
		var specs [2]any
		for i, text := range []string{test.before, test.after} {
			spec, err := readValues([]byte(text))
			must(t, err)
			specs[i] = map[string]any{"spec": spec}
		}
		differences, err := compare(specs[0], specs[1])
		must(t, err)
		r := everything(true)
		if err := r.check(differences); err == nil || !strings.Contains(err.Error(), `it changes "`+test.want+`", which no policy may`) {
			t.Errorf("%s to %s: %v", test.before, test.after, err)
		}
		r.API = false
		if err := r.check(differences); err != nil {
			t.Errorf("of a static pod: %s to %s: %v", test.before, test.after, err)
		}
	}
}
