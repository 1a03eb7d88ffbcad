package server

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
)

func TestOrdersAboutPoliciesAreForOneOwner(t *testing.T) {
	t.Parallel()
	known := judges{sets: []api.PolicySet{{Directory: "/p"}, {Tenant: "a", Directory: "/a"}, {Tenant: "broken", Directory: "/b"}}}
	for path, want := range map[string]struct {
		status                     int
		directory, digest, refused string
	}{
		"/v1/policies/reload":                     {http.StatusOK, "/p", "reload", ""},
		"/v1/policies/retry?tenant=a":             {http.StatusOK, "/a", "retry", ""},
		"/v1/policies/rollback?tenant=a":          {http.StatusOK, "/a", "rollback", ""},
		"/v1/policies/confirm?name=x":             {http.StatusOK, "/p", "confirm x", ""},
		"/v1/policies/confirm?name=x&sha256=0123": {http.StatusOK, "/p", "confirm x 0123", ""},
		"/v1/policies/reload?tenant=broken":       {http.StatusOK, "/b", "reload", "a.toml: broken"},
		"/v1/policies/rollback?tenant=other":      {status: http.StatusConflict, refused: `tenant "other" has no policies`},
	} {
		s := New(Options{Policies: known, Logger: slog.New(slog.DiscardHandler)})
		answer := httptest.NewRecorder()
		s.mux.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, path, http.NoBody))
		var got struct {
			api.PolicyOutcome
			Error string `json:"error"`
		}
		if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
			t.Fatal(err)
		}
		if answer.Code != want.status || got.Set.Directory != want.directory || got.Set.Digest != want.digest || got.Refused+got.Error != want.refused {
			t.Errorf("%s: status %d, %+v", path, answer.Code, got)
		}
	}
}

func TestAnAgentWithoutPoliciesTakesNoOrdersAboutThem(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	answer := httptest.NewRecorder()
	s.mux.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/v1/policies/reload", http.NoBody))
	if answer.Code != http.StatusConflict || !strings.Contains(answer.Body.String(), "this agent has no policies") {
		t.Errorf("status %d: %s", answer.Code, answer.Body)
	}
}
