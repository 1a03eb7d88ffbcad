package mux

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// judge is a Gate that answers by the image of the first container: it denies "evil", holds
// "wait", never answers "stuck", and allows all others. The verdict for an image that begins
// with "wait" and ends with "node" depends on the node.
type judge struct {
	changed, nodeChanged chan struct{}

	mu    sync.Mutex
	asked []string
	// recalled are the versions that the judge was called with as admitted before a restart.
	recalled []string
	lenient  bool
	set      string
	// images is true if the recorded questions include the image.
	images bool
	// allowed has the instances that were ever allowed.
	allowed map[string]bool
	retry   time.Duration
	// change edits each allowed pod as policies would; nil for no change.
	change func(*v1.Pod)
	// answers are the answers that the judge has still to send, one after the other.
	answers []func()
	giving  bool
	pending sync.WaitGroup
}

func newJudge() *judge {
	return &judge{changed: make(chan struct{}, 1), nodeChanged: make(chan struct{}, 1), set: "s1", allowed: map[string]bool{}}
}

func (j *judge) Changed() <-chan struct{} { return j.changed }

func (j *judge) NodeChanged() <-chan struct{} { return j.nodeChanged }

func (j *judge) Admitted(q api.Question, v api.Verdict) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.recalled = append(j.recalled, fmt.Sprintf("%s %s %s %s", v.Answer, q.Op, q.Pod.UID, q.Pod.Spec.Containers[0].Image))
}

func (j *judge) Judge(q api.Question, answer func(api.Verdict)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	line := fmt.Sprintf("%s %s", q.Op, q.Pod.UID)
	if j.images {
		line += " " + q.Pod.Spec.Containers[0].Image
	}
	if q.Old != nil {
		line += " old " + q.Old.Spec.Containers[0].Image
	}
	if q.Replaces != "" {
		line += " for " + string(q.Replaces)
	}
	j.asked = append(j.asked, line)
	v := api.Verdict{Answer: api.Allow, Sets: []string{j.set}, RetryAfter: j.retry}
	switch img := q.Pod.Spec.Containers[0].Image; {
	case img == "stuck":
		return
	case j.lenient:
	case strings.HasPrefix(img, "evil"):
		v.Answer, v.Reason, v.Message, v.Policy = api.Deny, "Evil", img, "p"
	case strings.HasPrefix(img, "wait"):
		v.Answer, v.Reason, v.Message, v.Policy = api.Hold, "Wait", img, "p"
		v.ReadsNode = strings.HasSuffix(img, "node")
	}
	if v.Answer == api.Allow {
		instance, err := pod.Instance(q.Pod)
		if err != nil {
			panic(err)
		}
		if q.Base != nil {
			instance = q.Base.Instance
		}
		j.allowed[instance] = true
		v.Mutation = j.mutation(q.Pod, instance)
	}
	j.answers = append(j.answers, func() { answer(v) })
	if !j.giving {
		j.giving = true
		j.pending.Go(j.give)
	}
}

// mutation returns the change that the judge's policies make to a pod.
func (j *judge) mutation(p *v1.Pod, instance string) *pod.Mutation {
	if j.change == nil {
		return nil
	}
	final := p.DeepCopy()
	j.change(final)
	hash, err := pod.FinalHash(final)
	if err != nil {
		panic(err)
	}
	return &pod.Mutation{By: []pod.Mutator{{Policy: "p"}}, Instance: instance, FinalHash: hash, Final: final}
}

// ponder makes the judge keep back all answers until speak is called.
func (j *judge) ponder() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.giving = true
}

func (j *judge) speak() { j.pending.Go(j.give) }

func (j *judge) give() {
	for {
		j.mu.Lock()
		if len(j.answers) == 0 {
			j.giving = false
			j.mu.Unlock()
			return
		}
		next := j.answers[0]
		j.answers = j.answers[1:]
		j.mu.Unlock()
		next()
	}
}

// become puts another policy set into force, which allows everything if lenient is true.
func (j *judge) become(lenient bool, set string) {
	j.mu.Lock()
	j.lenient, j.set = lenient, set
	j.mu.Unlock()
	j.changed <- struct{}{}
}

func (j *judge) questions() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	asked := j.asked
	j.asked = nil
	return asked
}

// board is a Waits that records its calls.
type board struct {
	mu    sync.Mutex
	lines []string
	last  map[types.UID]api.Waiting
}

func newBoard() *board { return &board{last: map[types.UID]api.Waiting{}} }

func (b *board) Waits(w api.Waiting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	shown := w.Pod.UID
	line := fmt.Sprintf("%s %s", w.Verdict.Answer, w.Pod.UID)
	if w.Running != nil {
		shown = w.Running.UID
		line += " beside " + string(w.Running.UID)
	}
	b.last[shown] = w
	b.lines = append(b.lines, line)
}

func (b *board) Passed(uid types.UID) { b.end("passed", uid) }
func (b *board) Gone(uid types.UID)   { b.end("gone", uid) }

func (b *board) end(how string, uid types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.last, uid)
	b.lines = append(b.lines, how+" "+string(uid))
}

func (b *board) told() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := b.lines
	b.lines = nil
	return lines
}

// gated is a running mux with a judge.
type gated struct {
	t     *testing.T
	mux   *Mux
	judge *judge
	board *board
	stop  func()
}

func startGated(t *testing.T, documents Documents, j *judge) *gated {
	t.Helper()
	return startStopping(t, documents, j, false)
}

func startStopping(t *testing.T, documents Documents, j *judge, stopDenied bool) *gated {
	t.Helper()
	g := &gated{t: t, judge: j, board: newBoard()}
	g.mux = New(Config{
		Sources:   []Source{{Name: "one", Kind: "file", Location: "/one"}, {Name: "two", Kind: "file", Location: "/two"}},
		Documents: documents, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Gate: j, Waits: g.board, StopDenied: stopDenied,
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.mux.Run(ctx) }()
	g.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want it cancelled", err)
		}
		j.pending.Wait()
	})
	t.Cleanup(g.stop)
	return g
}

// got returns the operations that the sync loop was sent since the last call.
func (g *gated) got() []string {
	g.t.Helper()
	synctest.Wait()
	var got []string
	for len(g.mux.Updates()) > 0 {
		for _, c := range (<-g.mux.Updates()).Changes {
			line := string(c.Op) + " " + string(c.Pod().UID)
			if c.Replaces != "" {
				line += " for " + string(c.Replaces)
			}
			if c.Verdict != nil && c.Verdict.Answer != api.Allow {
				line += " " + string(c.Verdict.Answer)
			}
			got = append(got, line)
		}
	}
	return got
}

func (g *gated) deliver(source string, d ...api.Document) {
	g.t.Helper()
	if err := mustSink(g.t, g.mux, source).Replace(g.t.Context(), d); err != nil {
		g.t.Fatal(err)
	}
}

// static makes p a pod of a file source.
func static(p *v1.Pod) {
	p.Annotations[pod.AnnotationSource] = "one"
	p.Annotations[pod.AnnotationHash] = string(p.UID) + p.Spec.Containers[0].Image
}

func doc(id, name string, uid types.UID, img string, edits ...func(*v1.Pod)) api.Document {
	return good(id, name, uid, append([]func(*v1.Pod){image(img), static}, edits...)...)
}

// flat sorts the operations of several updates into the order they have in one update.
func flat(ops []string) []string {
	slices.SortStableFunc(ops, func(a, b string) int { return rank[opOf(a)] - rank[opOf(b)] })
	return ops
}

func opOf(line string) api.Op {
	op, _, _ := strings.Cut(line, " ")
	return api.Op(op)
}
