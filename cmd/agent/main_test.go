package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/server"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	time.Local = time.UTC // describe prints times in the local time zone
	if status, isChild := parts.Child(); isChild {
		os.Exit(status)
	}
	os.Unsetenv(config.EndpointVariable) // the variable would override the configurations of the tests
	goleak.VerifyTestMain(m)
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// knowledge has the answers of a fake agent. Each question consumes an answer; the last answer
// stays.
type knowledge struct {
	mu        sync.Mutex
	pods      [][]v1.Pod
	sources   [][]api.SourceState
	objects   []api.Object
	stats     *statsapi.Summary
	conflicts []api.Conflict
	policies  [][]api.PolicySet
	decisions [][]api.Decision
	// waiting has the answers that belong to each question for pods. They are not counted as
	// questions.
	waiting    [][]api.Waiting
	suppressed [][]api.WaitingUpdate
	foreign    int
	foreignErr error
	events     []api.Event
	// happened returns the events that come next, by the number of known events; nil for none.
	happened func(known int) []api.Event
	origins  map[types.UID]api.Origin
	verdicts map[types.UID]*api.Verdict
	started  time.Time
	node     *v1.Node
	// logs, exec, attach and forward serve the streams of pods; nil for none.
	logs, exec, attach, forward http.Handler
	// asked is called at each question with the number of the question, from 1.
	asked func(n int)
	n     int
}

func (k *knowledge) PodList() *v1.PodList { return &v1.PodList{Items: next(k, &k.pods)} }

// Top returns no statistics for a node that is not measured.
func (k *knowledge) Top(context.Context) (*statsapi.Summary, error) {
	if k.stats == nil {
		return nil, errors.New("/proc/stat: it is empty")
	}
	return k.stats, nil
}

func (k *knowledge) Sources() []api.SourceState { return next(k, &k.sources) }
func (k *knowledge) Conflicts() []api.Conflict  { return k.conflicts }

func (k *knowledge) Sets() []api.PolicySet { return next(k, &k.policies) }

func (k *knowledge) Decisions() []api.Decision { return next(k, &k.decisions) }

func (k *knowledge) Reload(_ context.Context, tenant string) (api.PolicySet, error) {
	return k.ordered("reload", tenant)
}

func (k *knowledge) Retry(_ context.Context, tenant string) (api.PolicySet, error) {
	return k.ordered("retry", tenant)
}

func (k *knowledge) Rollback(_ context.Context, tenant string) (api.PolicySet, error) {
	return k.ordered("rollback", tenant)
}

func (k *knowledge) Confirm(_ context.Context, tenant, policy, sha256 string) (api.PolicySet, error) {
	set, err := k.ordered(strings.TrimSpace("confirm "+policy+" "+sha256), tenant)
	for i := range set.Policies {
		set.Policies[i].SHA256 = "0123456789abcdef0123456789abcdef"
		set.Policies[i].Review = &api.PolicyReview{Judged: 45, Violating: 45, Of: 50, Evicted: 5, Waiting: 45, Confirmed: true}
	}
	return set, err
}

// ordered returns a set whose digest names the order. It fails for the tenant a, with a set, and
// for other tenants, without one.
func (k *knowledge) ordered(order, tenant string) (api.PolicySet, error) {
	set := api.PolicySet{
		Tenant: tenant, Directory: "/etc/wardlet/policies", Ready: true, Digest: order + " by order", Generation: 3,
		Policies: []api.PolicyState{{Name: "p"}},
	}
	switch tenant {
	case "":
		return set, nil
	case "a":
		return set, errors.New("a.toml:1: api: missing\nb.toml:2: mode: \x1b[31mwrong")
	}
	return api.PolicySet{}, fmt.Errorf("tenant %q has no policies", tenant)
}

func (k *knowledge) Foreign(context.Context) (int, error) { return k.foreign, k.foreignErr }

func (k *knowledge) Suppressed() []api.WaitingUpdate { return next(k, &k.suppressed) }

func (k *knowledge) Release(_ context.Context, namespace, name string) ([]api.WaitingUpdate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var released []api.WaitingUpdate
	for _, u := range take(&k.suppressed) {
		if u.Namespace == namespace && u.Name == name {
			released = append(released, u)
		}
	}
	if released == nil {
		return nil, fmt.Errorf("no update of %s/%s is held back", namespace, name)
	}
	return released, nil
}

// eventList and waitingList have a method List each, because knowledge can have only one.
type (
	eventList   struct{ *knowledge }
	waitingList struct{ *knowledge }
)

func (l eventList) List() []api.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.happened != nil {
		l.events = append(slices.Clip(l.events), l.happened(len(l.events))...)
	}
	return l.events
}

// Listen returns a channel that always reports a change.
func (k *knowledge) Listen() (changed <-chan struct{}, stop func()) {
	always := make(chan struct{})
	close(always)
	return always, func() {}
}

func (l waitingList) List() []api.Waiting {
	l.mu.Lock()
	defer l.mu.Unlock()
	return take(&l.waiting)
}

func next[T any](k *knowledge, answers *[][]T) []T {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.n++
	if k.asked != nil {
		k.asked(k.n)
	}
	return take(answers)
}

func take[T any](answers *[][]T) []T {
	if len(*answers) == 0 {
		return nil
	}
	answer := (*answers)[0]
	if len(*answers) > 1 {
		*answers = (*answers)[1:]
	}
	return slices.Clone(answer)
}

// serve runs a local API until the test ends or stop is called.
func serve(t *testing.T, k *knowledge) (socket string, stop func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "wardlet") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket = filepath.Join(dir, "w.sock")
	l, err := server.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Options{
		Pods: k, PodChanges: k, Sources: k, Events: eventList{k}, Policies: k, Waiting: waitingList{k}, Updates: k, Foreign: k, Stats: k,
		Version: api.NewVersion("v9.9.9"), Logger: slog.New(slog.DiscardHandler),
		Node: "edge", Object: func() *v1.Node { return k.node }, Origins: func() map[types.UID]api.Origin { return k.origins }, Now: func() time.Time { return noon },
		Verdicts: func() map[types.UID]*api.Verdict { return k.verdicts }, Started: k.started, Objects: func() []api.Object { return k.objects }, Logs: k.logs, Exec: k.exec, Attach: k.attach, PortForward: k.forward,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var served sync.WaitGroup
	served.Go(func() {
		if err := s.Serve(ctx, l); err != nil {
			t.Error(err)
		}
	})
	stop = func() {
		cancel()
		served.Wait()
	}
	t.Cleanup(stop)
	return socket, stop
}

// wardlet runs a command line in this process and returns the output and the exit status.
func wardlet(ctx context.Context, args ...string) string {
	return wardletTelling(ctx, func(string) {}, args...)
}

// wardletUntil does the same as wardlet, and stops the command when its output contains text as
// often as times says.
func wardletUntil(t *testing.T, text string, times int, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return wardletTelling(ctx, func(out string) {
		if strings.Count(out, text) >= times {
			cancel()
		}
	}, args...)
}

// wardletTelling does the same as wardlet, and calls tell with the output so far at each write.
func wardletTelling(ctx context.Context, tell func(out string), args ...string) string {
	return wardletReading(ctx, strings.NewReader(""), tell, args...)
}

// wardletReading does the same as wardletTelling, with in as standard input.
func wardletReading(ctx context.Context, in io.Reader, tell func(out string), args ...string) string {
	out, errOut := &telling{tell: tell}, &telling{tell: func(string) {}}
	a := &app{&cli.App{In: in, Out: out, ErrOut: errOut, Now: func() time.Time { return noon }, Poll: time.Millisecond}}
	code := a.execute(ctx, args)
	text := out.String()
	if said := errOut.String(); said != "" {
		text += "--- stderr\n" + said
	}
	return text + fmt.Sprintf("--- exit status %d\n", code)
}

// telling is a buffer that reports its content at each write. Output of a program may still arrive
// after the command that started the program has returned.
type telling struct {
	mu   sync.Mutex
	text bytes.Buffer
	tell func(string)
}

func (w *telling) Write(p []byte) (int, error) {
	w.mu.Lock()
	n, err := w.text.Write(p)
	text := w.text.String()
	w.mu.Unlock()
	w.tell(text)
	return n, err
}

func (w *telling) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// golden compares the output of a command with testdata/NAME.golden. Each pair in hide is a text
// and its replacement in the file.
func golden(t *testing.T, name, got string, hide ...string) {
	t.Helper()
	hide = append(hide, runtime.Version(), "GO", runtime.GOOS+"/"+runtime.GOARCH, "PLATFORM")
	got = strings.NewReplacer(hide...).Replace(got)
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
