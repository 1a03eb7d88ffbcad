package preflight

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCheckOptions_sayOnceWhatIsSlow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		takes time.Duration
		want  []string
	}{
		"a quick answer": {slowAnswer - time.Millisecond, nil},
		"a slow one":     {time.Minute, []string{"the runtime, at most 1m30s after 2s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var said []string
				began := time.Now()
				opts := CheckOptions{Waiting: func(subject string, limit time.Duration) {
					said = append(said, subject+", at most "+limit.String()+" after "+time.Since(began).String())
				}}
				got := opts.await("the runtime", 90*time.Second, func() []Finding {
					time.Sleep(test.takes)
					return []Finding{{Subject: "x"}}
				})
				if len(got) != 1 || time.Since(began) != test.takes {
					t.Errorf("findings %+v after %s", got, time.Since(began))
				}
				if diff := cmp.Diff(test.want, said); diff != "" {
					t.Errorf("said (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestCheckOptions_timeoutIsGenerousUnlessItIsSet(t *testing.T) {
	t.Parallel()
	if got := (CheckOptions{}).timeout(); got != DefaultCheckTimeout {
		t.Errorf("%s, want %s", got, DefaultCheckTimeout)
	}
	if got := (CheckOptions{Timeout: time.Hour}).timeout(); got != time.Hour {
		t.Errorf("%s, want an hour", got)
	}
}
