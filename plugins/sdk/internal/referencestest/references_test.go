package referencestest

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

var (
	kinds    = sdk.References("kind")
	names    = sdk.References("name")
	optional = sdk.References("optional")
	keys     = sdk.References("keys")
	digests  = sdk.References("digest").Lazy()

	policy func()
)

func init() {
	admit.Register(func() (admit.Policy, error) {
		return func() admit.Verdict {
			policy()
			return admit.Allow()
		}, nil
	})
}

func TestReferences_areThoseOfTheRequest(t *testing.T) {
	policy = func() {
		if kinds.Len() != 2 || kinds.At(0).String() != "ConfigMap" || kinds.At(1).String() != "Secret" {
			t.Errorf("kinds of %d", kinds.Len())
		}
		if names.At(0).String() != "app" || names.At(1).String() != "tls" || !optional.At(0).Bool() || optional.At(1).Bool() {
			t.Error("other references than expected")
		}
		if keys.At(0).Exists() || digests.At(0).Exists() {
			t.Error("an object that is not there has keys or a digest")
		}
		if keys.At(1).At(1).String() != "tls.key" || digests.At(1).String() != "hmac-sha256:1" {
			t.Error("other content than expected")
		}
		if got := string(sdk.RequestJSON()); !strings.Contains(got, `"references":[{"kind":"ConfigMap","name":"app","optional":true},{`) {
			t.Errorf("got %s", got)
		}
	}
	sdktest.Load(t, nil, sdktest.ReferencesRead).Admit(t, sdktest.Request{Pod: `{}`, References: []sdktest.Reference{
		{Kind: "Secret", Name: "tls", Keys: []string{"tls.crt", "tls.key"}, Digest: "hmac-sha256:1"}, {Name: "app", Optional: true},
	}})
}

func TestReferences_ofAPodThatNamesNothing(t *testing.T) {
	policy = func() {
		if kinds.Len() != 0 || digests.Len() != 0 || strings.Contains(string(sdk.RequestJSON()), "references") {
			t.Error("there are references")
		}
	}
	sdktest.Load(t, nil, sdktest.ReferencesRead).Admit(t, sdktest.Request{Pod: `{}`})
}

func TestReferences_needTheCapability(t *testing.T) {
	want := `request.references[*].kind: what the pod names needs the capability "references.read"`
	if got := sdktest.LoadError(t, nil, sdktest.NodeRead); !strings.Contains(got, want) {
		t.Errorf("got %q", got)
	}
}
