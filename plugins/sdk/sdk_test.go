package sdk_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

var (
	name       = sdk.Object("metadata.name")
	labels     = sdk.Object("metadata.labels")
	network    = sdk.Object("spec.hostNetwork")
	grace      = sdk.Object("spec.terminationGracePeriodSeconds")
	names      = sdk.Object("spec.@containers[*].name")
	images     = sdk.Object("spec.@containers[*].image")
	hostPorts  = sdk.Object("spec.containers[*].ports[*].hostPort")
	containers = sdk.Object("spec.containers")
	context    = sdk.Object("spec.securityContext")
	affinity   = sdk.Object("spec.affinity")
	volumes    = sdk.Object("spec.volumes[*].name")
	privileged = sdk.Object("spec.@containers[*].securityContext.privileged")
	nonRoot    = sdk.Object("spec.@containers[*].securityContext.runAsNonRoot").Lazy()
	oldName    = sdk.OldObject("metadata.name")
	operation  = sdk.Request("operation")
	when       = sdk.Request("time")
)

// The plugin under test does what each test says.
var (
	setup  func() error
	policy func() admit.Verdict
)

func init() {
	admit.Register(func() (admit.Policy, error) {
		if setup != nil {
			if err := setup(); err != nil {
				return nil, err
			}
		}
		return policy, nil
	})
}

// judge runs do as the policy of a plugin and returns the result.
func judge(t *testing.T, r sdktest.Request, do func()) sdktest.Result {
	t.Helper()
	policy = func() admit.Verdict {
		do()
		return admit.Allow()
	}
	return sdktest.Load(t, nil).Admit(t, r)
}

// allowed fails the test if the policy misused the SDK.
func allowed(t *testing.T, r sdktest.Result) {
	t.Helper()
	if r.Answer != sdktest.Allow {
		t.Errorf("the call failed: %+v", r)
	}
}

var web = sdktest.Request{
	Pod: `{
		"metadata": {"name": "web", "labels": {"app": "web", "tier": ""}},
		"spec": {
			"hostNetwork": true,
			"terminationGracePeriodSeconds": 30,
			"securityContext": {"runAsUser": 7},
			"initContainers": [{"name": "init", "image": "i"}],
			"containers": [
				{"name": "a", "image": "x", "ports": [{"containerPort": 1, "hostPort": 80}, {"containerPort": 2}]},
				{"name": "b"}
			]
		}
	}`,
	Old: map[string]any{"metadata": map[string]any{"name": "older"}},
}

func TestFieldsHaveTheValuesOfThePod(t *testing.T) {
	allowed(t, judge(t, web, func() {
		if got := name.String(); got != "web" {
			t.Errorf("name: %q", got)
		}
		if got := oldName.String(); got != "older" {
			t.Errorf("old name: %q", got)
		}
		if got := operation.String(); got != sdktest.Update {
			t.Errorf("operation: %q", got)
		}
		if got := when.Int(); got != 1767225600000 {
			t.Errorf("time: %d", got)
		}
		if !network.Bool() {
			t.Error("hostNetwork: false")
		}
		if got := grace.Int(); got != 30 {
			t.Errorf("grace: %d", got)
		}
		if got := slices.Collect(images.Strings()); !slices.Equal(got, []string{"i", "x"}) {
			t.Errorf("images, the missing one left out: %q", got)
		}
		if got := images.Len(); got != 3 {
			t.Errorf("images, the missing one counted: %d", got)
		}
		if got := string(context.JSON()); got != `{"runAsUser":7}` {
			t.Errorf("security context: %s", got)
		}
		if got := maps.Collect(labels.Map()); !maps.Equal(got, map[string]string{"app": "web", "tier": ""}) || labels.Len() != 2 {
			t.Errorf("labels: %v", got)
		}
		if got, ok := labels.Lookup("tier"); got != "" || !ok {
			t.Errorf("an empty label: %q, %v", got, ok)
		}
		if got, ok := labels.Lookup("none"); got != "" || ok {
			t.Errorf("no such label: %q, %v", got, ok)
		}
	}))
}

func TestKindsSayWhatAFieldIs(t *testing.T) {
	allowed(t, judge(t, web, func() {
		for field, want := range map[*sdk.Field]sdk.Kind{
			name: sdk.KindString, network: sdk.KindBool, grace: sdk.KindInt, images: sdk.KindList,
			labels: sdk.KindMap, context: sdk.KindJSON, affinity: sdk.KindMissing,
		} {
			if got := field.Kind(); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
			if got := field.Exists(); got != (want != sdk.KindMissing) {
				t.Errorf("%v: exists is %v", want, got)
			}
		}
	}))
}

func TestListsOfListsAlign(t *testing.T) {
	allowed(t, judge(t, web, func() {
		var got [][]int64
		for of := range hostPorts.Elements() {
			ports := []int64{}
			for port := range of.Elements() {
				ports = append(ports, port.Int())
			}
			got = append(got, ports)
		}
		if len(got) != 2 || !slices.Equal(got[0], []int64{80, 0}) || len(got[1]) != 0 {
			t.Errorf("host ports: %v", got)
		}
	}))
}

func TestZipGoesThroughTwoListsSideBySide(t *testing.T) {
	allowed(t, judge(t, web, func() {
		var got []string
		for name, image := range sdk.Zip(names, images) {
			got = append(got, name.String()+"="+image.String())
		}
		if !slices.Equal(got, []string{"init=i", "a=x", "b="}) {
			t.Errorf("got %q", got)
		}
		for range sdk.Zip(names, images) {
			got = nil
			break
		}
		if got != nil {
			t.Error("a loop over Zip cannot be left")
		}
	}))
}

func TestAMissingElementIsAnEmptyStringOfAllStrings(t *testing.T) {
	allowed(t, judge(t, web, func() {
		if got := slices.Collect(images.AllStrings()); !slices.Equal(got, []string{"i", "x", ""}) {
			t.Errorf("got %q", got)
		}
		for range images.AllStrings() {
			break
		}
	}))
}

func TestListsOfBoolsAreAskedAsAWhole(t *testing.T) {
	for contexts, want := range map[string]struct{ anyPrivileged, allNonRoot bool }{
		``:   {false, true},
		`{}`: {},
		`{"securityContext": {"privileged": true}}`:                                                                          {true, false},
		`{"securityContext": {"runAsNonRoot": true}}`:                                                                        {false, true},
		`{"securityContext": {"runAsNonRoot": false}}`:                                                                       {},
		`{"securityContext": {"runAsNonRoot": true}}, {}`:                                                                    {},
		`{}, {"securityContext": {"privileged": true, "runAsNonRoot": true}}`:                                                {true, false},
		`{"securityContext": {"privileged": false, "runAsNonRoot": true}}, {"securityContext": {"runAsNonRoot": true}}`:      {false, true},
		`{"securityContext": {"privileged": false, "runAsNonRoot": true}}, {"securityContext": {"privileged": true}}`:        {true, false},
		`{"securityContext": {"privileged": false, "runAsNonRoot": true}}, {"securityContext": {"runAsNonRoot": false}}, {}`: {},
	} {
		allowed(t, judge(t, sdktest.Request{Pod: `{"spec": {"containers": [` + contexts + `]}}`}, func() {
			for range 2 { // the lazy field, too
				if got := privileged.AnyTrue(); got != want.anyPrivileged || privileged.Value().AnyTrue() != got {
					t.Errorf("%s: any is privileged: %v", contexts, got)
				}
				if got := nonRoot.AllTrue(); got != want.allNonRoot || nonRoot.Value().AllTrue() != got {
					t.Errorf("%s: all are not root: %v", contexts, got)
				}
			}
		}))
	}
}

// A loop over an iterator that is not inlined into the policy would allocate heap memory,
// which costs a plugin microseconds.
func TestReadingTakesNoMemory(t *testing.T) {
	n := 0
	for what, read := range map[string]func(){
		"strings": func() {
			for image := range images.Strings() {
				n += len(image)
			}
		},
		"all strings": func() {
			for image := range images.AllStrings() {
				n += len(image)
			}
		},
		"elements": func() {
			for image := range images.Elements() {
				n += len(image.String())
			}
		},
		"a map": func() {
			for key, value := range labels.Map() {
				n += len(key) + len(value)
			}
		},
		"two lists": func() {
			for name, image := range sdk.Zip(names, images) {
				n += len(name.String()) + len(image.String())
			}
		},
		"bools": func() {
			if privileged.AnyTrue() || privileged.AllTrue() || !network.Bool() {
				n++
			}
		},
		"what lists hold": func() {
			for of := range hostPorts.Elements() {
				for port := range of.Elements() {
					n += int(port.Int())
				}
			}
		},
		"single values": func() {
			n += len(name.String()) + int(grace.Int()) + labels.Len() + len(names.At(1).String())
			if _, ok := labels.Lookup("tier"); ok && affinity.Exists() {
				n++
			}
		},
	} {
		allowed(t, judge(t, web, func() {
			if got := testing.AllocsPerRun(10, read); got != 0 {
				t.Errorf("%s: %v allocations", what, got)
			}
		}))
	}
	if n == 0 {
		t.Error("nothing was read")
	}
}

func TestMissingFieldsReadAsEmpty(t *testing.T) {
	allowed(t, judge(t, sdktest.Request{Pod: `{}`}, func() {
		if name.String() != "" || grace.Int() != 0 || labels.Len() != 0 || context.JSON() != nil || affinity.Bool() {
			t.Error("a missing field has a value")
		}
		for range images.Strings() {
			t.Error("a missing list has an element")
		}
		for range labels.Map() {
			t.Error("a missing map has an entry")
		}
		for range sdk.Zip(volumes, images) {
			t.Error("two empty lists have an element")
		}
		if oldName.Exists() {
			t.Error("there is an old object")
		}
	}))
}

func TestMisuseFailsTheCallWhateverItAnswers(t *testing.T) {
	for what, test := range map[string]struct {
		do   func()
		want string
	}{
		"a string read as an integer":   {func() { name.Int() }, "object.metadata.name is read as an integer, but it is a string"},
		"a string read as a bool":       {func() { name.Bool() }, "as a bool"},
		"a bool read as a string":       {func() { _ = network.String() }, "object.spec.hostNetwork is read as a string"},
		"an integer read as a map":      {func() { grace.Lookup("x") }, "as a map of strings"},
		"a map read as a list":          {func() { labels.Elements()(nil) }, "as a list"},
		"a string measured":             {func() { name.Len() }, "as a list"},
		"a list read as JSON":           {func() { containers.JSON() }, "as a JSON value"},
		"a list of JSON as strings":     {func() { containers.Strings()(ignore) }, "as a string, but it is a JSON value"},
		"a list of lists as bools":      {func() { hostPorts.AnyTrue() }, "as a bool, but it is a list"},
		"a list of strings as bools":    {func() { images.AllTrue() }, "object.spec.@containers[*].image is read as a bool, but it is a string"},
		"a string as bools":             {func() { name.AnyTrue() }, "as a list, but it is a string"},
		"an element as bools":           {func() { images.At(0).AllTrue() }, "as a list, but it is a string"},
		"a list of JSON as all strings": {func() { containers.AllStrings()(ignore) }, "as a string, but it is a JSON value"},
		"a list of lists as strings":    {func() { hostPorts.Strings()(ignore) }, "as a string, but it is a list"},
		"lists that do not align":       {func() { sdk.Zip(images, hostPorts)(nil) }, "different lengths"},
		"a field declared in a policy":  {func() { sdk.Object("spec.priority").Exists() }, "declared too late"},
		"a setting of another type":     {func() { sdk.BoolSetting("on") }, ""},
	} {
		t.Run(what, func(t *testing.T) {
			policy = func() admit.Verdict {
				test.do()
				return admit.Allow()
			}
			got := sdktest.Load(t, map[string]any{"on": "yes"}).Admit(t, web)
			if got.Answer != sdktest.Failed || !strings.Contains(got.Message, test.want) {
				t.Errorf("got %+v, want %q", got, test.want)
			}
		})
	}
}

func ignore(string) bool { return true }

func TestAMisuseIsForgottenByTheNextCall(t *testing.T) {
	misuse := true
	policy = func() admit.Verdict {
		if misuse {
			name.Int()
		}
		return admit.Allow()
	}
	p := sdktest.Load(t, nil)
	if got := p.Admit(t, web); got.Answer != sdktest.Failed {
		t.Errorf("got %+v", got)
	}
	misuse = false
	allowed(t, p.Admit(t, web))
}

func TestWhatIsKeptOfAPodDoesNotChange(t *testing.T) {
	var kept string
	var ports sdk.Value
	allowed(t, judge(t, web, func() {
		kept = name.String()
		ports = hostPorts.Value()
	}))
	allowed(t, judge(t, sdktest.Request{Pod: `{"metadata": {"name": "XXX"}}`}, func() {
		if kept != "web" || ports.Len() != 2 {
			t.Errorf("now %q, %d", kept, ports.Len())
		}
	}))
}

func TestJSONIsThePoliciesOwn(t *testing.T) {
	allowed(t, judge(t, web, func() {
		text := context.JSON()
		text[0] = 'X'
		if got := context.JSON()[0]; got != '{' {
			t.Errorf("the record was written to: %c", got)
		}
	}))
}

func TestFieldsCannotBeReadInSetup(t *testing.T) {
	setup = func() error {
		_ = name.String()
		return nil
	}
	defer func() { setup = nil }()
	if got := sdktest.LoadError(t, nil); !strings.Contains(got, "object.metadata.name is read where no pod is judged") {
		t.Errorf("got %q", got)
	}
}

func TestTheLogHasLevels(t *testing.T) {
	got := judge(t, web, func() {
		sdk.Log.Debug("a")
		sdk.Log.Info("b")
		sdk.Log.Warn("c")
		sdk.Log.Error("d")
		if !sdk.Log.Enabled(sdk.LevelDebug) || sdk.Log.Enabled(99) {
			t.Error("other levels are enabled than should be")
		}
	})
	if !slices.Equal(got.Log, []string{"debug: a", "info: b", "warn: c", "error: d"}) {
		t.Errorf("got %q", got.Log)
	}
}
