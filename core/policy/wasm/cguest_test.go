package wasm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
)

// cSDK is the directory of the C SDK. cExample is the directory of a plugin made with the C
// SDK.
const (
	cSDK     = "../../../plugins/sdk/c"
	cExample = "../../../plugins/examples/allowed-images-c"
)

// buildC compiles C files to WebAssembly as the SDK's documentation says.
func buildC(tb testing.TB, files ...string) []byte {
	tb.Helper()
	if _, err := exec.LookPath("clang-19"); err != nil {
		tb.Fatal("clang-19 is not here: run tools/setup.sh guests")
	}
	out := filepath.Join(tb.TempDir(), "guest.wasm")
	args := append([]string{"--no-default-config", "@" + cSDK + "/wasm.flags", "-Werror", "-I", cSDK, "-o", out}, files...)
	if text, err := exec.Command("clang-19", args...).CombinedOutput(); err != nil {
		tb.Fatalf("build %q: %v\n%s", files, err, text)
	}
	binary, err := os.ReadFile(out)
	if err != nil {
		tb.Fatal(err)
	}
	return binary
}

// buildCPlugin compiles the example.
func buildCPlugin(tb testing.TB) []byte {
	tb.Helper()
	files, err := filepath.Glob(cExample + "/*.c")
	if err != nil {
		tb.Fatal(err)
	}
	return buildC(tb, slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.c") })...)
}

// small limits a plugin to what a plugin in C needs.
func small(settings map[string]any) func(*Options) {
	return func(o *Options) { o.MemoryPages, o.Settings = 2, settings }
}

var listed = map[string]any{"allow": []any{"registry.example/*", "docker.io/library/nginx", "*.mirror.example/team-*:1.*"}}

// TestPluginsOfTheCSDK checks the host and the C SDK against each other: both are written
// from docs/abi.md.
func TestPluginsOfTheCSDK(t *testing.T) {
	t.Parallel()
	binary := buildCPlugin(t)
	if len(binary) > 32<<10 {
		t.Errorf("the plugin has %d bytes: should be some KB", len(binary))
	}
	e, _ := testEngine(t)
	_, err := e.Load(t.Context(), binary, testOptions())
	if err == nil || !strings.HasPrefix(err.Error(), "PluginError: wardlet_init refuses: settings.allow must list at least one pattern") {
		t.Errorf("without settings: %v", err)
	}
	p, log := load(t, binary, small(listed))
	for range 2 {
		got := admit(t, p, "nginx:1.27", "registry.example/shop/web")
		want := "container \"c\": image \"nginx:1.27\" is allowed by \"docker.io/library/nginx\"\n" +
			"container \"c\": image \"registry.example/shop/web\" is allowed by \"registry.example/*\""
		if got.Answer != api.Allow || got.Explanation != want {
			t.Errorf("%+v", got)
		}
		got = admit(t, p, "nginx", "evil.example/nginx")
		if got.Answer != api.Deny || got.Reason != "ImageNotAllowed" || !strings.Contains(got.Message, "evil.example/nginx") {
			t.Errorf("%+v", got)
		}
		if got := admit(t, p); got.Answer != api.Allow {
			t.Errorf("without containers: %+v", got)
		}
	}
	if log.String() != "" {
		t.Errorf("log %s", log)
	}
}

// TestThePluginsInCAndGoSayTheSame compares two examples of the same policy.
func TestThePluginsInCAndGoSayTheSame(t *testing.T) {
	t.Parallel()
	binary, err := build("../../../plugins/examples", "./allowed-images")
	if err != nil {
		t.Fatal(err)
	}
	inC := buildCPlugin(t)
	allowed := 0
	for _, settings := range []map[string]any{listed, {"allow": []any{"*/*"}, "require_digest": true}} {
		goPlugin, _, err := loadShared(t, binary, settings)
		if err != nil {
			t.Fatal(err)
		}
		cPlugin, _ := load(t, inC, small(settings))
		for _, asked := range imagePods() {
			want, err := goPlugin.Admit(t.Context(), question(asked))
			if err != nil {
				t.Fatal(err)
			}
			got, err := cPlugin.Admit(t.Context(), question(asked))
			if err != nil {
				t.Fatal(err)
			}
			want.Fuel, got.Fuel, want.Extra, got.Extra = 0, 0, 0, 0
			if want.Answer == api.Allow {
				allowed++
			}
			if wordsOf(got) != wordsOf(want) {
				t.Errorf("in C:  %+v\nin Go: %+v", got, want)
			}
		}
	}
	if allowed < 50 {
		t.Errorf("only %d pods are allowed: the test compares too little", allowed)
	}
	for _, allow := range []any{[]any{}, []any{"*/*", "nginx"}, []any{`a.b/"c`}, []any{"a.b/c:1@sha256:0"}} {
		settings := map[string]any{"allow": allow}
		_, _, want := loadShared(t, binary, settings)
		e, _ := testEngine(t)
		o := testOptions()
		o.Settings = settings
		_, got := e.Load(t.Context(), inC, o)
		if want == nil || got == nil || want.Error() != got.Error() {
			t.Errorf("allow = %v: in C %v, in Go %v", allow, got, want)
		}
	}
}

// words are the texts and the answer that a plugin returns for a pod.
type words struct {
	answer                       api.Answer
	reason, message, explanation string
}

func wordsOf(r Result) words { return words{r.Answer, r.Reason, r.Message, r.Explanation} }

// imagePods returns pods with images of all kinds: well-formed, malformed, many, long, and in
// volumes. They are the same in every run.
func imagePods() []*v1.Pod {
	pieces := []string{
		"nginx", "registry.example", "/", "/", ":", ":", "@", "sha256:" + strings.Repeat("0123456789abcdef", 4), "1.2", "latest", "team-a",
		"a.mirror.example", "Registry.Example", "localhost", "5000", "..", "-", "_", "[::1]", "docker.io", "library", " ", "ü", "\"", strings.Repeat("x", 301),
	}
	state := uint32(1)
	next := func(n int) int {
		state = state*1664525 + 1013904223
		return int(state>>8) % n
	}
	image := func() string {
		var b strings.Builder
		for range next(7) {
			b.WriteString(pieces[next(len(pieces))])
		}
		return b.String()
	}
	wellFormed := []string{
		"nginx", "nginx:1", "registry.example/a", "Registry.Example/a/b:1", "a.mirror.example/team-a:1.2", "docker.io/nginx@" + pieces[7],
		"index.docker.io/nginx", "evil.example/a", "busybox", "registry.example/a@" + pieces[7],
	}
	var pods []*v1.Pod
	for _, one := range wellFormed {
		for _, other := range wellFormed {
			pods = append(pods, abitest.Pod(one, other))
		}
	}
	for range 300 {
		asked := abitest.Pod(wellFormed[next(len(wellFormed))], image())
		asked.Spec.InitContainers = []v1.Container{{Name: image(), Image: wellFormed[next(len(wellFormed))]}}
		pods = append(pods, asked)
	}
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf("evil.example/%d", i)
	}
	volumes := abitest.Pod("nginx")
	volumes.Spec.Volumes = []v1.Volume{
		{Name: "a", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}},
		{Name: "b", VolumeSource: v1.VolumeSource{Image: &v1.ImageVolumeSource{Reference: "evil.example/x"}}},
		{Name: "c", VolumeSource: v1.VolumeSource{Image: &v1.ImageVolumeSource{Reference: "nginx"}}},
	}
	return append(pods, abitest.Pod(), abitest.Pod(""), abitest.Pod(many...), volumes)
}

func TestTheCSDKInWebAssembly(t *testing.T) {
	t.Parallel()
	binary := buildC(t, "testdata/cguest/memory.c")
	for mode, test := range map[string]struct {
		pages   uint32
		want    Result
		failure string
	}{
		"functions": {pages: 2, want: Result{Answer: api.Allow}},
		"lookup":    {pages: 2, want: Result{Answer: api.Hold, Reason: "Held", Message: "web"}},
		"grow":      {pages: 20, want: Result{Answer: api.Allow}},
		"misuse":    {pages: 2, failure: "PluginError: wardlet_admit reports an error: field object.spec.containers[*].image is read as an integer, but it is a list"},
		"unsaid":    {pages: 2, failure: "PluginError: wardlet_admit reports an error: the policy returned no verdict"},
		"shallow":   {pages: 2, want: Result{Answer: api.Abstain}},
		"deep":      {pages: 3, failure: "Trap: "}, // it overflows its stack before it writes to anything else
		"huge":      {pages: 20, failure: "Trap: "},
		"grow too":  {},
	} {
		if mode == "grow too" {
			mode, test.pages, test.failure = "grow", 4, "MemoryLimit: "
		}
		p, _ := load(t, binary, small(map[string]any{"mode": mode}), func(o *Options) { o.MemoryPages, o.Fuel = test.pages, 1<<30 })
		for range 2 { // no call may read what an earlier one left
			got, err := p.Admit(t.Context(), question(abitest.Pod("a")))
			if err != nil || test.failure != "" {
				if err == nil || test.failure == "" || !strings.HasPrefix(err.Error(), test.failure) {
					t.Errorf("%s: got %+v, %v, want %s", mode, got, err, test.failure)
				}
				continue
			}
			if got.Answer != test.want.Answer || got.Reason != test.want.Reason || got.Message != test.want.Message {
				t.Errorf("%s: got %+v", mode, got)
			}
		}
	}
}

func TestTheCSDKHasEveryHookAndFunction(t *testing.T) {
	t.Parallel()
	p, log := load(t, buildC(t, "testdata/cguest/hooks.c"), small(map[string]any{"levels": map[string]any{"a": 1}}), func(o *Options) {
		o.Hooks = []string{"admit", "merge", "filter"}
	})
	for range 2 { // no call may read what an earlier one left
		admitted, err := p.Admit(t.Context(), question(abitest.Pod("a", "b")))
		want := `[{"op":"add","path":"/metadata/labels/images","value":"a b \u0022\u0022"}]`
		if err != nil || admitted.Answer != api.Allow || string(admitted.Patch) != want || len(admitted.Warnings) != 1 ||
			admitted.Warnings[0] != "web on node-1" || admitted.Annotations["request"] != "admit ADD" {
			t.Errorf("admit: %+v, %v", admitted, err)
		}
		asked := question(abitest.Pod("a"))
		asked.Question.Op, asked.Question.Old, asked.Changed = api.UpdateOp, abitest.Pod("b"), []string{"images"}
		filtered, err := p.Filter(t.Context(), asked)
		if err != nil || filtered.Answer != FilterDefer || filtered.DeferFor != 90*time.Second {
			t.Errorf("filter: %+v, %v", filtered, err)
		}
		merged, err := p.Merge(t.Context(), &abi.MergeRequest{Time: abitest.Time, Candidates: []abi.Candidate{
			{Pod: abitest.Pod("a"), Kind: "file"}, {Pod: abitest.Pod("a"), Kind: "api", Running: true},
		}})
		if err != nil || merged.Answer != MergeWinner || merged.Winner != 1 || merged.Patch != nil {
			t.Errorf("merge: %+v, %v", merged, err)
		}
		if merged, err = p.Merge(t.Context(), &abi.MergeRequest{Time: abitest.Time}); err != nil || merged.Answer != MergeReject || merged.Reason != "NoneRuns" {
			t.Errorf("merge: %+v, %v", merged, err)
		}
	}
	if want := "level=INFO msg=\"a plugin logs\" policy=test text=\"settings {\\\"levels\\\":{\\\"a\\\":1}}\"\n"; log.String() != want {
		t.Errorf("log %s, want %s", log, want)
	}
	e, _ := testEngine(t)
	_, err := e.Load(t.Context(), buildC(t, "testdata/cguest/hooks.c"), testOptions())
	if err == nil || !strings.Contains(err.Error(), "settings.levels is missing") {
		t.Errorf("without settings: %v", err)
	}
}
