package mutate

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/pod"
)

var fuzzPatches = []string{
	`[]`,
	`[{"op":"replace","path":"/spec/containers/0/image","value":"x:1"}]`,
	`[{"op":"add","path":"/metadata/labels","value":{"a":"b","wardlet.dev/x":"y"}}]`,
	`[{"op":"add","path":"/metadata/annotations/wardlet.dev~1identity","value":null}]`,
	`[{"op":"test","path":"","value":{}},{"op":"remove","path":"/spec"}]`,
	`[{"op":"test","path":"/spec/volumes/0/emptyDir","value":{}},{"op":"replace","path":"/spec/containers","value":[{"name":"a","image":"b"}]}]`,
	`[{"op":"add","path":"/spec/containers/-","value":{"name":"a","image":"b","resources":{"limits":{"cpu":"1e3"}}}}]`,
	`[{"op":"add","path":"/spec/hostNetwork","value":true},{"op":"remove","path":"/spec/containers/0/ports"}]`,
	`[{"op":"add","path":"","value":null}]`,
	`[{"op":"add","path":"/spec/containers/0/env/0","value":{"name":"A"}},{"op":"remove","path":"/spec/containers/0/env/1"}]`,
	`[{"op":"replace","path":"/spec/tolerations","value":[]},{"op":"remove","path":"/spec/volumes"}]`,
	`[{"op":"replace","path":"/spec/terminationGracePeriodSeconds","value":1e1}]`,
	`[{"op":"add","path":"/spec/containers/0/resources/limits/cpu","value":1.50}]`,
	`[{"op":"add","path":"/metadata/annotations/<<","value":"*a"},{"op":"add","path":"/metadata/labels/a~0b","value":"\u2028\ud800"}]`,
}

// forbiddenAnew matches the places that no policy may change. This is a second, independent
// definition, as are mayAnew and ofAPIAnew.
var (
	forbiddenAnew = regexp.MustCompile(`^/(?:apiVersion|kind|status|spec/nodeName|metadata/(?:labels|annotations)/wardlet\.dev~1|metadata/annotations/kubernetes\.io~1config\.)`)
	mayAnew       = regexp.MustCompile(`^/(?:spec(?:/|$)|metadata/(?:labels|annotations)(?:/|$))`)
	ofAPIAnew     = regexp.MustCompile(`^/spec/(?:serviceAccount|automountService|volumes/\d+/name|[a-zC]+ontainers/\d+/(?:name|ports|resources/requests))`)
)

// leaves returns, by place, the values of a document that contain no other values.
func leaves(tb testing.TB, p *v1.Pod) map[string]string {
	tb.Helper()
	values, err := valuesOf(p)
	must(tb, err)
	found := map[string]string{}
	each(nil, values, func(at pointer, value any) bool {
		if eachBelow(at, value, func(pointer, any) bool { return false }) {
			found[at.String()] = textOf(tb, value)
		}
		return true
	})
	return found
}

// changedLeaves returns the places of leaves that differ. An object that is empty in one
// document, but not in the other, is not a leaf.
func changedLeaves(before, after map[string]string) []string {
	holds := func(in map[string]string, at string) bool {
		for other := range in {
			if strings.HasPrefix(other, at+"/") {
				return true
			}
		}
		return false
	}
	changed := map[string]bool{}
	for at, value := range before {
		if after[at] != value && !holds(after, at) {
			changed[at] = true
		}
	}
	for at, value := range after {
		if before[at] != value && !holds(before, at) {
			changed[at] = true
		}
	}
	return slices.Sorted(maps.Keys(changed))
}

func FuzzApply(f *testing.F) {
	for _, patch := range fuzzPatches {
		for _, paths := range []string{"/spec /metadata", "/spec/containers/*/image /metadata/labels", "/metadata/annotations/a"} {
			f.Add([]byte(patch), paths, false)
			f.Add([]byte(patch), paths, true)
		}
	}
	static, ofAPI := staticPod(f), apiPod(f)
	f.Fuzz(func(t *testing.T, patch []byte, paths string, fromAPI bool) {
		r := Reach{Paths: strings.Fields(paths), API: fromAPI, MutateAPI: true}
		if fromAPI {
			checkApply(t, ofAPI, patch, r)
		} else {
			checkApply(t, static, patch, r)
		}
	})
}

// FuzzComposed makes patches of these parts.
var (
	composedOps   = []string{"add", "replace", "remove", "test"}
	composedPaths = []string{
		"", "/metadata", "/spec", "/status", "/metadata/name", "/metadata/labels", "/metadata/labels/a", "/metadata/labels/app",
		"/metadata/labels/wardlet.dev~1x", "/metadata/annotations", "/metadata/annotations/kubernetes.io~1config.hash",
		"/metadata/annotations/wardlet.dev~1identity", "/metadata/annotations/a", "/metadata/finalizers", "/spec/nodeName", "/spec/hostNetwork",
		"/spec/containers", "/spec/containers/-", "/spec/containers/0", "/spec/containers/1", "/spec/containers/0/name", "/spec/containers/0/image",
		"/spec/containers/0/env", "/spec/containers/0/env/-", "/spec/containers/0/ports", "/spec/containers/0/ports/0/hostPort",
		"/spec/containers/0/resources", "/spec/containers/0/resources/limits", "/spec/containers/1/resources/limits",
		"/spec/containers/0/resources/requests/cpu", "/spec/containers/0/imagePullPolicy", "/spec/containers/1/securityContext",
		"/spec/volumes", "/spec/volumes/0", "/spec/volumes/1", "/spec/volumes/-", "/spec/volumes/1/hostPath/path", "/spec/tolerations",
		"/spec/tolerations/0", "/spec/serviceAccountName", "/spec/automountServiceAccountToken", "/spec/terminationGracePeriodSeconds", "/spec/dnsPolicy",
	}
	composedValues = []string{
		"null", "true", "false", "0", "5", `""`, `"a"`, `"web"`, `"x:1"`, `"2"`, `"Default"`, `"Always"`, "[]", "{}", `{"a":"b"}`, `{"cpu":"2"}`,
		`{"limits":{"cpu":"1"}}`, `{"name":"n","image":"i"}`, `[{"name":"app","image":"x"},{"name":"log","image":"y"}]`, `{"name":"v","emptyDir":{}}`,
		`[{"name":"data","emptyDir":{}}]`, `{"name":"E","value":"v"}`, `[{"name":"E"}]`, `[{"containerPort":80,"protocol":"TCP"}]`, `{"app":"web","wardlet.dev/x":"y"}`,
	}
	composedReaches = [][]string{{"/spec", "/metadata"}, {"/spec/containers/*/image", "/metadata/labels/*"}, {"/spec/containers", "/metadata/labels/a"}}
)

// FuzzComposed applies patches made of parts that often fit a pod.
func FuzzComposed(f *testing.F) {
	for path := range composedPaths {
		for value := range composedValues {
			f.Add([]byte{0, byte(path), byte(value)}, byte(path))
		}
		f.Add([]byte{2, byte(path), 0, 0, byte(path), 17}, byte(1))
	}
	static, ofAPI := staticPod(f), apiPod(f)
	f.Fuzz(func(t *testing.T, parts []byte, reach byte) {
		var patch []string
		for ; len(parts) >= 3 && len(patch) < 20; parts = parts[3:] {
			s := step{
				composedOps[int(parts[0])%len(composedOps)], composedPaths[int(parts[1])%len(composedPaths)],
				composedValues[int(parts[2])%len(composedValues)],
			}
			patch = append(patch, s.String())
		}
		r := Reach{Paths: composedReaches[int(reach>>1)%len(composedReaches)], API: reach&1 == 1, MutateAPI: true}
		if r.API {
			checkApply(t, ofAPI, []byte("["+strings.Join(patch, ",")+"]"), r)
		} else {
			checkApply(t, static, []byte("["+strings.Join(patch, ",")+"]"), r)
		}
	})
}

// checkApply applies a patch and checks everything that Apply promises.
func checkApply(t *testing.T, p *v1.Pod, patch []byte, r Reach) {
	t.Helper()
	was := p.DeepCopy()
	got, err := Apply(p, patch, r)
	again, errAgain := Apply(p, patch, r)
	if !equality.Semantic.DeepEqual(was, p) {
		t.Fatalf("the pod changed: %s", cmp.Diff(was, p))
	}
	if err != nil {
		if errAgain == nil || errAgain.Error() != err.Error() {
			t.Fatalf("%v, then %v", err, errAgain)
		}
		if errors.Is(err, ErrPatch) == errors.Is(err, ErrReach) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Fatalf("error %q", err)
		}
		return
	}
	must(t, errAgain)
	if textOf(t, got.Pod) != textOf(t, again.Pod) || !slices.Equal(got.Changed, again.Changed) {
		t.Fatal("the same patch gives another pod")
	}
	if !slices.IsSorted(got.Changed) || len(slices.Compact(slices.Clone(got.Changed))) != len(got.Changed) || len(got.Changed) > maxDifferences {
		t.Fatalf("changed %v", got.Changed)
	}
	checkReach(t, p, got, r)
	checkValid(t, got.Pod, r.API)
	if got.Pod.Name != p.Name || got.Pod.Namespace != p.Namespace || got.Pod.UID != p.UID || pod.Identity(got.Pod) != pod.Identity(p) ||
		!equality.Semantic.DeepEqual(got.Pod.Status, p.Status) || !equality.Semantic.DeepEqual(got.Pod.OwnerReferences, p.OwnerReferences) {
		t.Fatalf("pod %+v", got.Pod)
	}
}

// checkReach checks that the reach allows the change of each leaf that differs.
func checkReach(t *testing.T, p *v1.Pod, got Result, r Reach) {
	t.Helper()
	changed := changedLeaves(leaves(t, p), leaves(t, got.Pod))
	if (len(changed) == 0) != (len(got.Changed) == 0) {
		t.Fatalf("changed %v, said %v", changed, got.Changed)
	}
	var allowed []*regexp.Regexp
	for _, path := range r.Paths {
		if CheckPath(path) == nil {
			quoted := strings.ReplaceAll(regexp.QuoteMeta(path), `/\*`, `/[^/]*`)
			allowed = append(allowed, regexp.MustCompile(`^(?s:`+quoted+`)(?:/|$)`))
		}
	}
	for _, at := range changed {
		within := func(re *regexp.Regexp) bool { return re.MatchString(at) }
		if !slices.ContainsFunc(allowed, within) || forbiddenAnew.MatchString(at) || !mayAnew.MatchString(at) || r.API && ofAPIAnew.MatchString(at) {
			t.Fatalf("%s is different, reach %q", at, r.Paths)
		}
		said := func(pointer string) bool { return at == pointer || strings.HasPrefix(at, pointer+"/") }
		if !slices.ContainsFunc(got.Changed, said) {
			t.Fatalf("%s is different, said %q", at, got.Changed)
		}
	}
	if r.API && (len(got.Pod.Spec.Containers) != len(p.Spec.Containers) || len(got.Pod.Spec.Volumes) != len(p.Spec.Volumes)) {
		t.Fatal("containers or volumes came or went")
	}
}

// checkValid checks that the pod's source could have returned the pod.
func checkValid(t *testing.T, p *v1.Pod, fromAPI bool) {
	t.Helper()
	again := p.DeepCopy()
	var d api.Document
	if fromAPI {
		d = manifest.FromAPI(again, manifest.APIFrom{Source: pod.SourceAPI, NodeName: "node-1"})
	} else {
		again.Name = strings.TrimSuffix(again.Name, "-node-1")
		delete(again.Annotations, pod.AnnotationSource)
		delete(again.Annotations, pod.AnnotationHash)
		again.Status = v1.PodStatus{}
		docs := manifest.Decode([]byte(textOf(t, again)), manifest.DecodeFrom{Source: "manifests", Kind: api.KindFile, File: "f", NodeName: "Node-1"})
		d = docs[0]
	}
	if d.Err != nil {
		t.Fatalf("the result is not valid: %v", d.Err)
	}
	if err := manifest.Unsupported(d.Pod); fromAPI && err != nil {
		t.Fatalf("the result is not valid: %v", err)
	}
	if d.Pod.Annotations[pod.AnnotationHash] != p.Annotations[pod.AnnotationHash] {
		d.Pod.Annotations[pod.AnnotationHash] = p.Annotations[pod.AnnotationHash]
	}
	if f := pod.Diff(p, d.Pod); f&^pod.FieldStatus != 0 {
		t.Fatalf("the result is not in its final form: %s", cmp.Diff(p, d.Pod))
	}
}

// FuzzSteps compares the steps with another implementation of RFC 6902. It skips patches that
// the other one does not support: that one has no empty keys, compares numbers as texts and
// crashes on a test of null.
func FuzzSteps(f *testing.F) {
	document, err := valuesOf(staticPod(f))
	must(f, err)
	for _, patch := range fuzzPatches {
		f.Add([]byte(patch))
	}
	f.Add([]byte(`[{"op":"add","path":"/a","value":[1,2,3]},{"op":"remove","path":"/a/1"},{"op":"add","path":"/a/2","value":{"b":{}}},{"op":"replace","path":"/a/2/b","value":[]},{"op":"add","path":"/a/2/b/-","value":7}]`))
	f.Fuzz(func(t *testing.T, patch []byte) {
		operations, err := readPatch(patch)
		if err != nil {
			return
		}
		var asked []operation
		for _, o := range operations {
			if o.op == opTest || len(o.at) == 0 || slices.Contains(o.at, "") {
				return
			}
			asked = append(asked, o)
		}
		s := steps{root: cloned(document)}
		ours := s.applyAll(asked)
		other, err := jsonpatch.DecodePatch(patch)
		must(t, err)
		options := jsonpatch.NewApplyOptions()
		options.SupportNegativeIndices = false
		text, theirs := other.ApplyWithOptions([]byte(textOf(t, document)), options)
		if ours != nil {
			// The other implementation also accepts indices in other notations.
			if theirs == nil && !strings.Contains(ours.Error(), "is no index of a list") {
				t.Fatalf("refused: %v", ours)
			}
			return
		}
		must(t, theirs)
		var want, got any
		must(t, json.Unmarshal(text, &want))
		must(t, json.Unmarshal([]byte(textOf(t, s.root)), &got))
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}

func FuzzCheckPath(f *testing.F) {
	for _, path := range []string{"", "/spec", "/spec/containers/*/image", "/metadata/labels/a~1b", "/metadata/annotations/wardlet.dev~1identity", "/~"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if err := CheckPath(path); err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("not one line: %q", err)
			}
			return
		}
		at, err := parsePointer(path)
		must(t, err)
		if at.String() != path || !mayAnew.MatchString(path) && path != "/metadata" || forbiddenAnew.MatchString(path) {
			t.Fatalf("%q is allowed, read as %q", path, at.String())
		}
	})
}
