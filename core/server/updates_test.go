package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/server/client"
)

// filtered imitates the updates that filters hold back.
type filtered []api.WaitingUpdate

func (f filtered) Suppressed() []api.WaitingUpdate { return f }

func (f filtered) Release(_ context.Context, namespace, name string) ([]api.WaitingUpdate, error) {
	if len(f) == 0 {
		return nil, errors.New("nothing of " + namespace + "/" + name + " waits")
	}
	return f, nil
}

func podOf(namespace, name string, uid types.UID) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uid}}
}

func TestUpdatesAreThoseOfPodsThatRunAndThoseThatFiltersHoldBack(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	deferred := api.WaitingUpdate{Namespace: "b", Name: "web", UID: "u5", Op: api.UpdateOp, Wait: api.WaitDeferred, Since: noon, Until: noon.Add(time.Hour), Source: "static", Document: "w#0", Version: "3"}
	waits := held{
		{Pod: podOf("c", "new", "u1"), Verdict: api.Verdict{Answer: api.Hold}},
		{Pod: podOf("b", "web", "u5"), Running: podOf("b", "web", "u5"), Verdict: api.Verdict{Answer: api.Hold}, Suppressed: true},
		{
			Pod: podOf("c", "db", "u3"), Running: podOf("c", "db", "u2"), Verdict: api.Verdict{Answer: api.Deny, Policy: "p", Reason: "No", Message: "never"},
			Origin: api.Origin{Source: "static", Document: "d#0", Version: "2", FirstSeen: noon},
		},
		{Pod: podOf("a", "x", "u4"), Running: podOf("a", "x", "u4"), Verdict: api.Verdict{Answer: api.Hold}, RetryAt: noon},
	}
	want := []api.WaitingUpdate{
		{Namespace: "a", Name: "x", UID: "u4", Op: api.UpdateOp, Wait: api.WaitHeld, Again: noon},
		deferred,
		{
			Namespace: "c", Name: "db", UID: "u3", Op: api.UpdateOp, Replaces: "u2", Wait: api.WaitDenied, Policy: "p", Reason: "No", Message: "never",
			Since: noon, Source: "static", Document: "d#0", Version: "2",
		},
	}
	for name, tc := range map[string]struct {
		known known
		want  []api.WaitingUpdate
	}{
		"an agent with policies": {known{waiting: waits, updates: filtered{deferred}}, want},
		"an agent without":       {known{}, []api.WaitingUpdate{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := start(t, tc.known)
			var got []api.WaitingUpdate
			if err := client.New(socket).Get(t.Context(), "/v1/updates", &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("updates (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOfAnUpdateThatHasNoAnswerIsSaidWhatThatWaitsFor(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	asked := func(hook string) *api.Asked {
		return &api.Asked{Hook: hook, Since: noon, Policy: "p", Message: `policy "p" is being asked`}
	}
	update := func(document string) api.WaitingUpdate {
		return api.WaitingUpdate{Namespace: "b", Name: "web", UID: "u5", Op: api.UpdateOp, Wait: api.WaitAsked, Reason: api.ReasonNotAnswered, Source: "static", Document: document}
	}
	waits := held{
		{
			Pod: podOf("a", "db", "u2"), Running: podOf("a", "db", "u1"), Asked: asked(api.HookAdmit),
			Origin: api.Origin{Source: "static", Document: "d#0", FirstSeen: noon},
		},
		{Pod: podOf("a", "new", "u3"), Asked: asked(api.HookAdmit)},
		{
			Pod: podOf("b", "web", "u5"), Running: podOf("b", "web", "u5"), Suppressed: true, Asked: asked(api.HookFilter),
			Verdict: api.Verdict{Answer: api.Hold, Reason: api.ReasonNotAnswered}, Origin: api.Origin{Source: "static", Document: "w#0"},
		},
		{
			Pod: podOf("c", "x", "u6"), Running: podOf("c", "x", "u6"), Verdict: api.Verdict{Answer: api.Hold, Policy: "q", Message: "no"},
			Asked: asked(api.HookAdmit),
		},
	}
	answered := update("w#0")
	answered.Policy, answered.Message = "p", `the filter is being asked since 2026-01-02T12:00:00Z: policy "p" is being asked`
	want := []api.WaitingUpdate{
		{
			Namespace: "a", Name: "db", UID: "u2", Op: api.UpdateOp, Wait: api.WaitUnjudged, Replaces: "u1", Since: noon, Source: "static", Document: "d#0",
			Policy: "p", Message: `admission is being asked since 2026-01-02T12:00:00Z: policy "p" is being asked`,
		},
		answered, update("v#0"),
		{Namespace: "c", Name: "x", UID: "u6", Op: api.UpdateOp, Wait: api.WaitHeld, Policy: "q", Message: "no"},
	}
	socket, _ := start(t, known{waiting: waits, updates: filtered{update("w#0"), update("v#0")}})
	var got []api.WaitingUpdate
	if err := client.New(socket).Get(t.Context(), "/v1/updates", &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("updates (-want +got):\n%s", diff)
	}
}

func TestReleaseAnswersWhatItReleasedOrRefuses(t *testing.T) {
	t.Parallel()
	one := filtered{{Namespace: "default", Name: "web", UID: "u1"}}
	for name, tc := range map[string]struct {
		known known
		path  string
		want  []api.WaitingUpdate
		err   string
	}{
		"what waits":                    {known{updates: one}, "/v1/release?namespace=default&name=web", one, ""},
		"nothing waits":                 {known{updates: filtered{}}, "/v1/release?namespace=default&name=web", nil, "refused: nothing of default/web waits"},
		"no name":                       {known{updates: one}, "/v1/release?namespace=default", nil, "refused: name the pod: /v1/release?namespace=NAMESPACE&name=NAME"},
		"an agent that holds none back": {known{}, "/v1/release?namespace=default&name=web", nil, "refused: this agent holds no updates back"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := start(t, tc.known)
			var got []api.WaitingUpdate
			err := client.New(socket).Post(t.Context(), tc.path, &got)
			if (err == nil) != (tc.err == "") || err != nil && !strings.HasSuffix(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("released (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReleaseIsNotGet(t *testing.T) {
	t.Parallel()
	socket, _ := start(t, known{updates: filtered{{Namespace: "default", Name: "web"}}})
	var got []api.WaitingUpdate
	err := client.New(socket).Get(t.Context(), "/v1/release?namespace=default&name=web", &got)
	if err == nil || got != nil {
		t.Errorf("GET released %v, %v", got, err)
	}
}

func TestOnlyTheOwnerReleases(t *testing.T) {
	t.Parallel()
	s := New(Options{Updates: filtered{{Name: "web"}}})
	answer := httptest.NewRecorder()
	stranger := context.WithValue(t.Context(), peerKey{}, peer{uid: 12345})
	r := httptest.NewRequestWithContext(stranger, http.MethodPost, "/v1/release?namespace=default&name=web", http.NoBody)
	ownerOnly(1, s.mux).ServeHTTP(answer, r)
	if answer.Code != http.StatusForbidden {
		t.Errorf("status %d, want %d", answer.Code, http.StatusForbidden)
	}
}
