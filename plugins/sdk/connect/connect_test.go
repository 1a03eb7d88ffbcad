package connect

import (
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/request"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

var (
	kind, source, container, user = Kind(), Source(), Container(), User()
	command, ports, groups        = Command(), Ports(), Groups()
	asked, operation              = request.Hook(), request.Operation()

	namespace = sdk.Object("metadata.namespace")
	names     = sdk.Object("spec.@containers[*].name")
)

// policy is the policy of the plugin under test.
var policy Policy

func init() { Register(func() (Policy, error) { return policy, nil }) }

var exec = sdktest.Request{
	Pod:        `{"metadata": {"namespace": "shop"}, "spec": {"containers": [{"name": "main"}]}}`,
	Connection: &sdktest.Connection{Container: "main", Command: []string{"sh", "-c"}, User: "alice", Groups: []string{"ops"}},
}

func connect(t *testing.T, r sdktest.Request, p Policy) sdktest.Result {
	t.Helper()
	policy = p
	return sdktest.Load(t, nil).Connect(t, r)
}

func TestPolicy_seesTheConnectionAndThePod(t *testing.T) {
	got := connect(t, exec, func() Verdict {
		if kind.String() != Exec || source.String() != NodeAPI || container.String() != "main" || user.String() != "alice" ||
			namespace.String() != "shop" || asked.Get() != "connect" || operation.Get() != request.Connect || ports.Exists() ||
			!slices.Equal(slices.Collect(command.Strings()), []string{"sh", "-c"}) || !slices.Equal(slices.Collect(groups.Strings()), []string{"ops"}) {
			t.Error("another question than expected")
		}
		Warn("w")
		Annotate("k", "v")
		Explain("e")
		return Allow()
	})
	if got.Answer != sdktest.Allow || got.Explanation != "e" || len(got.Warnings) != 1 || got.Annotations["k"] != "v" {
		t.Errorf("got %+v", got)
	}
	forward := exec
	forward.Connection = &sdktest.Connection{Kind: PortForward, Source: Socket, Ports: []int32{80, 443}}
	connect(t, forward, func() Verdict {
		if kind.String() != PortForward || source.String() != Socket || ports.Len() != 2 || ports.At(1).Int() != 443 || command.Exists() || user.String() != "test" {
			t.Error("another question than expected")
		}
		return Abstain()
	})
}

// A rule for all containers must see containers of all kinds.
func TestPolicy_seesContainersOfAllKinds(t *testing.T) {
	debugged := exec
	debugged.Pod = `{"spec": {
		"initContainers": [{"name": "setup"}, {"name": "sidecar", "restartPolicy": "Always"}],
		"containers": [{"name": "main"}],
		"ephemeralContainers": [{"name": "debugger", "targetContainerName": "main"}]
	}}`
	debugged.Connection = &sdktest.Connection{Container: "debugger"}
	var got []string
	connect(t, debugged, func() Verdict {
		got = slices.Collect(names.Strings())
		return Allow()
	})
	if want := []string{"setup", "sidecar", "main", "debugger"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVerdict_arrivesAsItWasGiven(t *testing.T) {
	for name, test := range map[string]struct {
		give Verdict
		want sdktest.Result
	}{
		"allow":     {Allow(), sdktest.Result{Answer: sdktest.Allow}},
		"deny":      {Deny("NoExec", "not here"), sdktest.Result{Answer: sdktest.Deny, Code: "NoExec", Message: "not here"}},
		"abstain":   {Abstain(), sdktest.Result{Answer: sdktest.Abstain}},
		"a failure": {Fail("no idea"), sdktest.Result{Answer: sdktest.Failed, Code: "PluginError", Message: "no idea"}},
	} {
		got := connect(t, exec, func() Verdict { return test.give })
		if got.Answer != test.want.Answer || got.Code != test.want.Code || got.Message != test.want.Message {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

func TestPolicy_misuseFailsTheCall(t *testing.T) {
	if got := connect(t, exec, func() Verdict { return Verdict{} }); got.Answer != sdktest.Failed || !strings.Contains(got.Message, "no verdict") {
		t.Errorf("got %+v", got)
	}
	got := connect(t, exec, func() Verdict {
		user.Int()
		return Allow()
	})
	if got.Answer != sdktest.Failed || !strings.Contains(got.Message, "is read as an integer") {
		t.Errorf("got %+v", got)
	}
}
