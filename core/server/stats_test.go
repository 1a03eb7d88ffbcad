package server

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/wardlet/wardlet/core/server/client"
)

type measured struct{ err error }

func (m measured) Top(context.Context) (*statsapi.Summary, error) {
	return &statsapi.Summary{Node: statsapi.NodeStats{NodeName: "edge"}}, m.err
}

func TestStats(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stats Stats
		wrong string
	}{
		"measured":     {measured{}, ""},
		"not measured": {measured{errors.New("/proc/stat: it is empty")}, "/proc/stat: it is empty"},
		"not served":   {nil, "this agent does not know GET /v1/stats"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := socketPath(t)
			l, err := Listen(socket)
			if err != nil {
				t.Fatal(err)
			}
			serve(t, New(Options{Logger: slog.New(slog.DiscardHandler), Stats: test.stats}), l)
			var got statsapi.Summary
			err = client.New(socket).Get(t.Context(), "/v1/stats", &got)
			if test.wrong == "" && (err != nil || got.Node.NodeName != "edge") || test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)) {
				t.Errorf("%+v, %v; want the error %q", got, err, test.wrong)
			}
		})
	}
}
