package server

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/wardlet/wardlet/core/server/client"
)

func TestReloadAnswers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"with what came of it": {},
		"with why not":         {errors.New("a.toml:1: unknown key"), "refused: a.toml:1: unknown key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := socketPath(t)
			l, err := Listen(socket)
			if err != nil {
				t.Fatal(err)
			}
			s := New(Options{Logger: slog.New(slog.DiscardHandler)})
			s.ServeReload(func(ctx context.Context) (any, error) {
				return map[string]int{"applied": 2}, errors.Join(test.err, ctx.Err())
			})
			serve(t, s, l)
			var got map[string]int
			err = client.New(socket).Post(t.Context(), "/v1/reload", &got)
			switch {
			case test.err == nil && (err != nil || got["applied"] != 2):
				t.Errorf("answer %v, %v", got, err)
			case test.err != nil && (err == nil || err.Error() != "the agent at "+socket+" "+test.want):
				t.Errorf("error %v, want %s", err, test.want)
			}
			if err := client.New(socket).Get(t.Context(), "/v1/reload", &got); err == nil {
				t.Error("a question reloads")
			}
		})
	}
}
