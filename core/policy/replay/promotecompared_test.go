package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// obliging loads any module as a plugin that allows every pod.
type obliging struct{ eval.Plugin }

func (o obliging) Load(context.Context, []byte, wasm.Options) (eval.Plugin, error) { return o, nil }

func (obliging) Admit(context.Context, *abi.Request) (wasm.Result, error) {
	return wasm.Result{Answer: api.Allow}, nil
}

func (obliging) Forget(context.Context, []byte, wasm.Options) error { return nil }
func (obliging) LoadFuel() int64                                    { return 0 }
func (obliging) Warm(context.Context, []string) int64               { return 0 }
func (obliging) Reset(context.Context)                              {}
func (obliging) Trim()                                              {}
func (obliging) Close() error                                       { return nil }

// compared returns the set that the engine reports for a directory with a policy and a
// candidate, once the candidate can be promoted.
func compared(t *testing.T, dir string) *api.PolicySet {
	t.Helper()
	plane := policy.New(policy.Config{
		Dir: dir, AllowUnpinned: true, Node: "edge", Loader: obliging{}, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Evaluators: 1,
	})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = plane.Run(ctx) })
	defer running.Wait()
	defer stop()
	web := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "1"}, Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "i"}}}}
	plane.Judge(api.Question{Op: api.Add, Pod: web}, func(api.Verdict) {})
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		set := plane.Sets()[0]
		if len(set.Policies) == 2 && set.Policies[1].Shadow.Waits == "" {
			text, err := json.Marshal(set)
			if err != nil {
				t.Fatal(err)
			}
			set = api.PolicySet{}
			if err := json.Unmarshal(text, &set); err != nil {
				t.Fatal(err)
			}
			return &set
		}
		if time.Now().After(end) {
			t.Fatalf("got %+v", set)
		}
	}
}

func TestOnlyWhatWasComparedIsPromoted(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"p.toml":    "api = \"wardlet.dev/v1\"\nname = \"p\"\nmodule = \"p.wasm\"\nhooks = [\"admit\"]\n",
		"next.toml": "api = \"wardlet.dev/v1\"\nname = \"p\"\nmodule = \"next.wasm\"\nhooks = [\"admit\"]\nmode = \"shadow\"\n[shadow]\nmin_decisions = 1\nmin_time = \"0s\"\n",
		"p.wasm":    "p", "next.wasm": "next",
	}
	write := func(dir string) {
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, copied := range []bool{false, true} {
		for _, changed := range []string{"", "p.toml", "next.toml", "next.wasm"} {
			t.Run(fmt.Sprint(changed, copied), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				write(dir)
				set := compared(t, dir)
				to, advice := dir, "wait until it is compared as it is now"
				if copied {
					to, advice = t.TempDir(), "is not what was compared from "+dir
					write(to)
				}
				if changed != "" {
					change(t, filepath.Join(to, changed))
				}
				before, err := os.ReadFile(filepath.Join(to, "p.toml"))
				if err != nil {
					t.Fatal(err)
				}
				path, _, err := Promote(set, "p", to)
				after, _ := os.ReadFile(filepath.Join(to, "p.toml"))
				if changed == "" {
					if err != nil || path != filepath.Join(to, "p.toml") || !strings.Contains(string(after), "next.wasm") {
						t.Errorf("%s, %v:\n%s", path, err, after)
					}
					return
				}
				if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(to, changed)+" ") || !strings.Contains(err.Error(), advice) {
					t.Errorf("%v", err)
				}
				if string(after) != string(before) {
					t.Errorf("p.toml is another:\n%s", after)
				}
			})
		}
	}
}

// change appends to a file.
func change(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = io.WriteString(f, "# another\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
