package replay

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// decidedBy records a decision that a plugin makes about a pod under a configuration. It
// returns the state directory and the policy directory.
func decidedBy(t *testing.T, cfg *config.Config, plugin []byte) (dir, policies string) {
	t.Helper()
	policytest.Must(t, parts.WithEngine(cfg, func(engine *wasm.Engine) error {
		dir, policies = decidedWith(t, eval.Sandbox(engine), cfg.Policy.ModuleBytes, plugin)
		return nil
	}))
	return dir, policies
}

// decidedWith is decidedBy with the plugins of a loader, for modules of at most moduleBytes.
func decidedWith(t *testing.T, loader eval.Loader, moduleBytes int, plugin []byte) (dir, policies string) {
	t.Helper()
	dir, policies = filepath.Join(t.TempDir(), "state"), t.TempDir()
	policytest.Must(t, os.WriteFile(filepath.Join(policies, "p.wasm"), plugin, 0o600))
	policytest.Must(t, os.WriteFile(filepath.Join(policies, "p.toml"), []byte("api = \"wardlet.dev/v1\"\nname = \"p\"\nmodule = \"p.wasm\"\nhooks = [\"admit\"]\n"), 0o600))
	quiet := slog.New(slog.DiscardHandler)
	d, err := state.Open(dir, quiet)
	policytest.Must(t, err)
	log, err := d.Decisions(map[string]int64{"": 16 << 20})
	policytest.Must(t, err)
	p := policy.New(policy.Config{
		Dir: policies, AllowUnpinned: true, ModuleBytes: moduleBytes, DefaultVerdict: api.Allow, Node: "edge", Records: log,
		Loader: loader, Logger: quiet, Now: time.Now, Evaluators: 1,
	})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = p.Run(ctx) })
	answered := make(chan api.Verdict, 1)
	web := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "1"}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "i"}}}}
	p.Judge(api.Question{Op: api.Add, Pod: web}, func(v api.Verdict) { answered <- v })
	<-answered
	stop()
	running.Wait()
	policytest.Must(t, errors.Join(log.Close(), d.Close()))
	return dir, policies
}

func TestADecisionIsMadeAgainWhateverModulesTheConfigurationAllowsNow(t *testing.T) {
	t.Parallel()
	large := config.Default()
	large.Policy.ModuleBytes, large.Policy.CodeBytes = config.MaxModuleBytes, config.MaxModuleBytes
	small := config.Default()
	small.Policy.ModuleBytes, small.Policy.CodeBytes = 64<<10, 64<<10
	dir, policies := decidedBy(t, large, wasmtest.Padded(wasmtest.Allowing(0, nil), 5<<20))
	for name, cfg := range map[string]*config.Config{"the same": large, "the default": config.Default(), "less": small} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same := func(x *Replayed, want string) {
				if x.Outcome != want {
					t.Errorf("got %+v", x)
				}
			}
			n := 0
			damaged, err := Decisions(t.Context(), cfg, os.DirFS(dir), Options{}, func(x *Replayed) { n++; same(x, ReplaySame) })
			if len(damaged) > 0 || err != nil || n != 1 {
				t.Errorf("%d are made again: %v, %v", n, damaged, err)
			}
			_, err = ExportDecisions(t.Context(), cfg, os.DirFS(dir), &bytes.Buffer{}, ExportOptions{Redact: true}, func(x *Replayed) { same(x, ExportIn) })
			if err != nil {
				t.Error(err)
			}
			// The limits of the configuration also apply to other policies.
			_, err = DiffDecisions(t.Context(), cfg, os.DirFS(dir), DiffOptions{Dir: policies}, func(x *Differing) { same(&x.Replayed, DiffSame) })
			if refused := errors.Is(err, ErrRefused); refused != (cfg != large) || err != nil && !refused {
				t.Errorf("other policies: %v", err)
			}
		})
	}
}
