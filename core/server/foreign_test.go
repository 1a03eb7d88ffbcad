package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/server/client"
)

// strangers imitates the runtime's count of foreign pods.
type strangers func(context.Context) (int, error)

func (s strangers) Foreign(ctx context.Context) (int, error) { return s(ctx) }

func TestForeignPodsAreCounted(t *testing.T) {
	t.Parallel()
	socket, _ := start(t, known{foreign: strangers(func(context.Context) (int, error) { return 3, nil })})
	var got api.ForeignPods
	if err := client.New(socket).Get(t.Context(), "/v1/foreign", &got); err != nil || got.Pods != 3 {
		t.Errorf("answer %+v, error %v; want 3 pods", got, err)
	}
}

func TestARuntimeThatCannotTellIsARefusalWithItsWords(t *testing.T) {
	t.Parallel()
	socket, _ := start(t, known{foreign: strangers(func(context.Context) (int, error) { return 0, errors.New("no runtime there") })})
	err := client.New(socket).Get(t.Context(), "/v1/foreign", nil)
	if err == nil || !strings.HasSuffix(err.Error(), "refused: no runtime there") {
		t.Errorf("error %v", err)
	}
}

func TestARuntimeThatHangsIsGivenUpAfterTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Foreign: strangers(func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})})
		began, answer := time.Now(), httptest.NewRecorder()
		s.mux.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/foreign", http.NoBody))
		if took := time.Since(began); took != foreignTimeout || answer.Code != http.StatusServiceUnavailable {
			t.Errorf("status %d after %s, want %d after %s", answer.Code, took, http.StatusServiceUnavailable, foreignTimeout)
		}
	})
}
