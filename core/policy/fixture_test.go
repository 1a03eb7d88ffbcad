package policy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// tree is a directory of policies.
type tree struct {
	t   *testing.T
	dir string
}

func newTree(t *testing.T) tree {
	t.Helper()
	return tree{t, t.TempDir()}
}

func (d tree) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	must(d.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(d.t, os.WriteFile(path, []byte(text), 0o600))
}

func (d tree) remove(name string) {
	d.t.Helper()
	must(d.t, os.Remove(filepath.Join(d.dir, name)))
}

// policy writes NAME.toml and NAME.wasm; script says what the plugin does (see
// scripts), more are further keys.
func (d tree) policy(name, script string, more ...string) {
	d.t.Helper()
	d.write(name+".wasm", script)
	d.write(name+".toml", documentOf(name, script, more...))
}

func documentOf(name, script string, more ...string) string {
	return fmt.Sprintf("api = \"wardlet.dev/v1\"\nname = %q\nmodule = %q\nsha256 = %q\nhooks = [\"admit\"]\n%s\n",
		name, name+".wasm", sumOf(script), strings.Join(more, "\n"))
}

// documentIn is documentOf a policy whose hooks may be named in more.
func documentIn(name, script, more string) string {
	text := documentOf(name, script, more)
	if strings.Contains(more, "hooks = ") {
		text = strings.Replace(text, "hooks = [\"admit\"]\n", "", 1)
	}
	return text
}

func sumOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

const manifestText = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop, labels: {tier: web}}\n" +
	"spec:\n  containers: [{name: c, image: img}]\n"

// somePod is a pod from the source "static".
func somePod(name string, change ...func(*v1.Pod)) *v1.Pod {
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "shop", UID: types.UID("uid-" + name), Labels: map[string]string{"tier": "web"},
			Annotations: map[string]string{pod.AnnotationSource: "static"},
		},
		Spec: v1.PodSpec{Containers: []v1.Container{{Name: "c", Image: "img"}}},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func question(name string, change ...func(*api.Question)) api.Question {
	q := api.Question{Op: api.Add, Pod: somePod(name), Origin: api.Origin{Source: "static", Document: name + ".yaml#0"}}
	for _, f := range change {
		f(&q)
	}
	return q
}

// asking is a request about a question from a file, at a fixed time.
func asking(q api.Question) *wasm.Request {
	return &wasm.Request{Question: &q, Kind: "file", Time: instant}
}

// deciding is a decision on a question from a file, at a fixed time.
func deciding(q api.Question) *decision {
	return &decision{hook: hookAdmit, node: "node-1", request: asking(q), names: []string{q.Pod.Namespace + "/" + q.Pod.Name}, at: &activity{}}
}

// logs collects what is logged, one line per record, without its time.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.FieldsFunc(l.text.String(), func(r rune) bool { return r == '\n' })
}

// count is how many records hold text.
func (l *logs) count(text string) (n int) {
	for _, line := range l.lines() {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func (l *logs) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

func testConfig(d tree, s *scripts) Config {
	return Config{
		Dir: d.dir, DefaultVerdict: api.Allow, Kinds: map[string]string{"static": "file", "cluster": "api"}, Node: "node-1",
		Loader: s, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Evaluators: 1,
	}
}

// loadOnce loads what a directory holds, beside running.
func loadOnce(t *testing.T, d tree, s *scripts, running *set) (*set, error) {
	t.Helper()
	c := testConfig(d, s)
	l := loader{cfg: &c}
	got, err := l.load(t.Context(), read(&c), running)
	if at := l.at.current(); at != "" {
		t.Errorf("the loader says it is still in the plugin of %s", at)
	}
	return got, err
}

// run runs a plane until stop or the end of the test.
func run(t *testing.T, p *Plane) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.Run(ctx); err == nil || ctx.Err() == nil {
			t.Errorf("Run ended with %v before its context", err)
		}
	})
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	t.Cleanup(stop)
	return stop
}

// ask gives the verdict on a question.
func ask(t *testing.T, p *Plane, q api.Question) api.Verdict {
	t.Helper()
	answer := make(chan api.Verdict, 1)
	p.Judge(q, func(v api.Verdict) { answer <- v })
	select {
	case v := <-answer:
		return v
	case <-time.After(10 * time.Second):
		t.Fatal("no verdict within 10 s")
		return api.Verdict{}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// inDir takes the directory's name out of a message.
func inDir(err error, dir string) string {
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), dir, "DIR")
}
