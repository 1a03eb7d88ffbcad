package nodeapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// measured has the name of the node in a summary, and a name of its own if the summary is basic.
type measured struct{ err error }

func (m measured) Summary(_ context.Context, basic bool) (*statsapi.Summary, error) {
	if m.err != nil {
		return nil, m.err
	}
	if basic {
		return &statsapi.Summary{Node: statsapi.NodeStats{NodeName: "basic"}}, nil
	}
	return &statsapi.Summary{Node: statsapi.NodeStats{NodeName: "edge"}}, nil
}

func (measured) Resource() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "resource_metric 1\n") })
}

func (measured) Cadvisor() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "cadvisor_metric 1\n") })
}

func TestSummary_query(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"": "edge", "?only_cpu_and_memory=true": "basic", "?only_cpu_and_memory=True": "basic", "?only_cpu_and_memory=false": "edge", "?only_cpu_and_memory": "edge", "?other=true": "edge",
	} {
		s := &Server{cfg: Config{Stats: measured{}}}
		w := httptest.NewRecorder()
		s.summary(w, httptest.NewRequest(http.MethodGet, "/stats/summary"+query, http.NoBody))
		var got statsapi.Summary
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Node.NodeName != want || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%q: %s, %v; want %s", query, w.Body, err, want)
		}
	}
}

func TestSummary_failure(t *testing.T) {
	t.Parallel()
	s := &Server{cfg: Config{Stats: measured{errors.New("/proc/stat: it is empty")}}}
	w := httptest.NewRecorder()
	s.summary(w, httptest.NewRequest(http.MethodGet, "/stats/summary", http.NoBody))
	if want := "the resources of the node are not measured: /proc/stat: it is empty\n"; w.Code != http.StatusInternalServerError || w.Body.String() != want {
		t.Errorf("%d %q, want %q", w.Code, w.Body, want)
	}
}
