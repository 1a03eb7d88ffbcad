package request_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/request"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

var (
	hook      = request.Hook()
	operation = request.Operation()
	source    = request.Source()
	kind      = request.Kind()
	document  = request.Document()
	tenant    = request.Tenant()
	replaces  = request.Replaces()
	node      = request.Node()
	when      = request.Time()
	clock     = request.ClockSynchronized()
	changed   = request.Changed()
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

func ask(t *testing.T, r sdktest.Request, do func()) {
	t.Helper()
	policy = do
	r.Pod = `{}`
	if got := sdktest.Load(t, nil).Admit(t, r); got.Answer != sdktest.Allow {
		t.Errorf("got %+v", got)
	}
}

func TestFactsAreThoseOfTheQuestion(t *testing.T) {
	ask(t, sdktest.Request{
		Old: `{}`, Source: "s", Kind: request.API, Document: "d", Tenant: "a", Node: "n", Time: time.UnixMilli(7),
		ClockUnsynchronized: true, Changed: []string{request.Labels, request.Grace},
	}, func() {
		if hook.Get() != "admit" || operation.Get() != request.Update || source.Get() != "s" || kind.Get() != request.API ||
			document.Get() != "d" || tenant.Get() != "a" || node.Get() != "n" || when.Get() != 7 || clock.Get() || replaces.Exists() {
			t.Error("another question than expected")
		}
		if got := slices.Collect(changed.Words()); !slices.Equal(got, []string{"labels", "grace"}) {
			t.Errorf("changed %q", got)
		}
		if !changed.Any() || !changed.Has(request.Grace) || changed.Has(request.Images) {
			t.Error("has")
		}
		if changed.Only(request.Labels) || !changed.Only(request.Grace, request.Images, request.Labels) {
			t.Error("only")
		}
	})
}

func TestWhatIsNotSaidIsZero(t *testing.T) {
	ask(t, sdktest.Request{}, func() {
		if operation.Get() != request.Add || kind.Get() != request.File || tenant.Exists() || tenant.Get() != "" || !clock.Get() ||
			changed.Any() || changed.Has(request.Labels) || changed.Only() || changed.Only(request.Labels) {
			t.Error("another question than expected")
		}
	})
}
