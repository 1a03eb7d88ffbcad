package agent

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func TestStagesStopInReverseOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var stopped []string
		until := func(name string) Stage {
			return Stage{Name: name, Run: func(ctx context.Context) error {
				<-ctx.Done()
				stopped = append(stopped, name)
				return ctx.Err()
			}}
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- runStages(ctx, []Stage{until("server"), until("loop"), until("source")}) }()
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("runStages = %v, want none", err)
		}
		if diff := cmp.Diff([]string{"source", "loop", "server"}, stopped); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

func TestAStageThatEndsByItselfEndsTheAgent(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk is gone")
	tests := map[string]error{"with an error": broken, "without one": nil}
	for name, gives := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := runStages(t.Context(), []Stage{
				{Name: "server", Run: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
				{Name: "loop", Run: func(context.Context) error { return gives }},
			})
			if !errors.Is(err, errStage) || gives != nil && !errors.Is(err, gives) {
				t.Errorf("runStages = %v", err)
			}
		})
	}
}
