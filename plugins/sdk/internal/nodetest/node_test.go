package nodetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

var (
	name       = sdk.Node("name")
	zone       = sdk.Node("labels['zone']")
	cpu        = sdk.Node("allocatable['cpu']")
	namespaces = sdk.Node("pods[*].namespace")
	ports      = sdk.Node("pods[*].hostPorts").Lazy()
	priority   = sdk.Node("pods[0].priority")
)

var policy func()

func init() {
	admit.Register(func() (admit.Policy, error) {
		return func() admit.Verdict {
			policy()
			return admit.Allow()
		}, nil
	})
}

func TestFactsAboutTheNode(t *testing.T) {
	policy = func() {
		if name.String() != "n" || zone.String() != "a" || cpu.String() != "4" || priority.Int() != 7 {
			t.Error("another node than expected")
		}
		if got := slices.Collect(namespaces.Strings()); !slices.Equal(got, []string{"x", "y"}) {
			t.Errorf("namespaces %q", got)
		}
		if ports.At(0).At(0).Int() != 80 || ports.At(1).Exists() {
			t.Error("other ports than expected")
		}
		if got := string(sdk.NodeJSON()); !strings.HasPrefix(got, `{"name":"n","labels":{"zone":"a"},"allocatable":{"cpu":"4"},"pods":[{"namespace":"x",`) {
			t.Errorf("got %s", got)
		}
	}
	got := sdktest.Load(t, nil, sdktest.NodeRead).Admit(t, sdktest.Request{Pod: `{}`, Node: "n", Facts: &sdktest.NodeFacts{
		Labels: map[string]string{"zone": "a"}, Allocatable: map[string]string{"cpu": "4"},
		Pods: []sdktest.NodePod{{Namespace: "x", Priority: 7, HostPorts: []int32{80}}, {Namespace: "y"}},
	}})
	if got.Answer != sdktest.Allow {
		t.Errorf("got %+v", got)
	}
}

func TestWithoutFactsTheyAreMissing(t *testing.T) {
	policy = func() {
		if name.Exists() || namespaces.Exists() || ports.Exists() || sdk.NodeJSON() != nil {
			t.Error("there is a node")
		}
	}
	sdktest.Load(t, nil, sdktest.NodeRead).Admit(t, sdktest.Request{Pod: `{}`})
}

func TestWithoutTheCapabilityThePluginIsRefused(t *testing.T) {
	if got := sdktest.LoadError(t, nil); !strings.Contains(got, `node.name: facts about the node need the capability "node.read"`) {
		t.Errorf("got %q", got)
	}
	if got := sdktest.LoadError(t, nil, "network"); !strings.Contains(got, `no capability "network"`) {
		t.Errorf("got %q", got)
	}
}
