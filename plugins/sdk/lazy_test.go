package sdk_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/host"
	"github.com/wardlet/wardlet/plugins/sdk/patch"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

var (
	lazyName    = sdk.Object("metadata.name").Lazy()
	lazyImages  = sdk.Object("spec.@containers[*].image").Lazy()
	lazyVolumes = sdk.Object("spec.volumes").Lazy().Lazy()
	lazyOld     = sdk.OldObject("metadata.name").Lazy()
	afterLazy   = sdk.Object("metadata.namespace")
	lazyLong    = sdk.Object("spec.schedulerName").Lazy()
)

func TestLazyFieldsHaveTheValuesOfThePod(t *testing.T) {
	allowed(t, judge(t, web, func() {
		if lazyName.String() != "web" || lazyOld.String() != "older" || lazyVolumes.Exists() || afterLazy.Exists() {
			t.Error("another pod than expected")
		}
		if got := slices.Collect(lazyImages.Strings()); !slices.Equal(got, []string{"i", "x"}) {
			t.Errorf("images %q", got)
		}
		for a, b := range sdk.Zip(names, lazyImages) {
			if a.String() == "a" && b.String() != "x" {
				t.Errorf("image %s", b)
			}
		}
		if name.String() != "web" {
			t.Error("the record is torn")
		}
	}))
}

// counter counts the calls that fetch lazy fields.
type counter struct {
	host.Host
	gets int
}

func (c *counter) Get(handle int32, buf []byte) int32 {
	c.gets++
	return c.Host.Get(handle, buf)
}

func TestALazyFieldIsFetchedOnceAndOnlyIfItIsRead(t *testing.T) {
	counted := &counter{}
	policy = func() admit.Verdict {
		counted.Host = host.Current()
		host.Use(counted)
		_ = name.String()
		before := counted.gets
		for range 3 {
			_ = lazyName.String()
		}
		if before != 0 || counted.gets != 1 {
			t.Errorf("%d questions before the first lazy field is read, %d after", before, counted.gets)
		}
		return admit.Allow()
	}
	p := sdktest.Load(t, nil)
	for range 2 {
		counted.gets = 0
		if got := p.Admit(t, web); got.Answer != sdktest.Allow {
			t.Errorf("got %+v", got)
		}
	}
}

func TestALazyFieldMayBeLargerThanTheInputArea(t *testing.T) {
	long := strings.Repeat("x", 2*guest.Capacity)
	pod := map[string]any{"spec": map[string]any{"schedulerName": long}}
	allowed(t, judge(t, sdktest.Request{Pod: pod}, func() {
		if got := lazyLong.String(); got != long {
			t.Errorf("%d bytes came through", len(got))
		}
		if got := len(sdk.ObjectJSON()); got < len(long) {
			t.Errorf("the document has %d bytes", got)
		}
	}))
}

func TestLazyFieldsFollowTheRulesOfFields(t *testing.T) {
	for what, test := range map[string]struct {
		do   func()
		want string
	}{
		"a string read as an integer": {func() { lazyName.Int() }, "object.metadata.name is read as an integer, but it is a string"},
		"made lazy in a policy":       {func() { network.Lazy() }, "object.spec.hostNetwork is made lazy too late"},
		"declared in a policy":        {func() { sdk.Object("spec.priority").Lazy().Exists() }, "declared too late"},
	} {
		got := judge(t, web, test.do)
		if got.Answer != sdktest.Failed || !strings.Contains(got.Message, test.want) {
			t.Errorf("%s: got %+v", what, got)
		}
	}
	setup = func() error {
		_ = lazyName.String()
		return nil
	}
	defer func() { setup = nil }()
	if got := sdktest.LoadError(t, nil); !strings.Contains(got, "read where no pod is judged") {
		t.Errorf("in setup: %q", got)
	}
}

func TestWholeDocumentsAreJSON(t *testing.T) {
	allowed(t, judge(t, web, func() {
		object := sdk.ObjectJSON()
		if got := string(object); !strings.HasPrefix(got, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web",`) || strings.Contains(got, "status") {
			t.Errorf("object: %s", got)
		}
		object[0] = 'X'
		if got := sdk.ObjectJSON()[0]; got != '{' {
			t.Errorf("the document was written to: %c", got)
		}
		if got := string(sdk.OldObjectJSON()); !strings.Contains(got, `"name":"older"`) {
			t.Errorf("old object: %s", got)
		}
		if got := string(sdk.RequestJSON()); !strings.HasPrefix(got, `{"hook":"admit","operation":"UPDATE",`) {
			t.Errorf("request: %s", got)
		}
		if sdk.NodeJSON() != nil {
			t.Error("there are facts about the node")
		}
	}))
	setup = func() error {
		sdk.ObjectJSON()
		return nil
	}
	defer func() { setup = nil }()
	if got := sdktest.LoadError(t, nil); !strings.Contains(got, "a document is read where no pod is judged") {
		t.Errorf("in setup: %q", got)
	}
}

func TestAPatchGoesWithAnAllowedPod(t *testing.T) {
	for what, test := range map[string]struct {
		do   func() admit.Verdict
		want string
	}{
		"a patch": {func() admit.Verdict {
			admit.Patch(patch.Add("/a", patch.Int(1)))
			admit.Patch(patch.Add("/b", patch.Int(2)))
			return admit.Allow()
		}, `[{"op":"add","path":"/b","value":2}]`},
		"an empty one": {func() admit.Verdict { admit.Patch(); return admit.Allow() }, ""},
		"of a denial":  {func() admit.Verdict { admit.Patch(patch.Remove("/a")); return admit.Deny("A", "") }, ""},
	} {
		policy = test.do
		if got := sdktest.Load(t, nil).Admit(t, web); got.Patch != test.want || got.Answer == sdktest.Failed {
			t.Errorf("%s: got %+v", what, got)
		}
	}
	for _, text := range []string{"", "{}", "null", "[1]", "[{}]", `[{"op":"move","path":"/a"}]`, `[{"op":"add","path":1}]`, "[]x", "[\"\xff\"]"} {
		got := judge(t, web, func() { admit.PatchJSON([]byte(text)) })
		if got.Answer != sdktest.Failed || got.Code != "BadOutput" {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}
