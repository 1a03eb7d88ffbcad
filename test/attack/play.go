package attack

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

const (
	// secret is the word that modules try to leave behind: neither a failure nor an answer about
	// the image look may contain it.
	secret = "secret"
	// look is the image for which a module searches for what another call left.
	look = "look"
	// maxFailureBytes is the maximum length of a failure's text; maxReasonBytes and maxMessageBytes
	// are those of an answer (wasm.Result).
	maxFailureBytes = 8 << 10
	maxReasonBytes  = 64
	maxMessageBytes = 4 << 10
	// retryAfter is the pause before a plugin without an instance is asked again.
	retryAfter = 20 * time.Millisecond
)

// ballast is the value of the largest annotation of the judged pod.
var ballast = strings.Repeat("b", ballastBytes)

// Outcome is the result of a question: an answer in the words of Expectation with everything that
// belongs to it, or a failure's text.
type Outcome struct {
	Answer          string
	Reason, Message string
	Explanation     string
	Warnings        []string
	Annotations     map[string]string
	RetryAfter      time.Duration
	Patch           []byte
	Fuel            int64
	Failure         string
}

// Play loads the module into an engine, asks it all questions the given number of times, and closes
// it. The error describes any result that is not as required.
func (m *Module) Play(ctx context.Context, e *wasm.Engine, rounds int) (err error) {
	p, err := m.Load(ctx, e, m.Name)
	if err != nil || p == nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for range rounds {
		for i := range m.Questions {
			if _, err := m.Ask(ctx, p, &m.Questions[i]); err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
		}
	}
	return nil
}

// Load loads the module for a policy of that name. It returns nil if the module was refused as
// required.
func (m *Module) Load(ctx context.Context, e *wasm.Engine, policy string) (*wasm.Plugin, error) {
	p, err := e.Load(ctx, m.Binary, m.Options(policy))
	switch {
	case m.Refused == nil && err == nil:
		return p, nil
	case m.Refused == nil:
		return nil, fmt.Errorf("%s: it is refused: %w", m.Name, err)
	case err == nil:
		return nil, errors.Join(fmt.Errorf("%s: it is loaded, it must be refused: %s", m.Name, m.Refused), p.Close())
	}
	if err := m.Refused.failed(err); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil, nil
}

// Ask asks the plugin of m one of its questions. The error describes a result that is not as
// required.
func (m *Module) Ask(ctx context.Context, p *wasm.Plugin, q *Question) (Outcome, error) {
	for {
		o, err := m.Try(ctx, p, q)
		if !errors.Is(err, wasm.ErrNotReady) { // new instances are rate-limited
			return o, err
		}
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
			return o, ctx.Err()
		}
	}
}

// Try is Ask without retries: if the plugin has no instance for the question, the error is
// wasm.ErrNotReady.
func (m *Module) Try(ctx context.Context, p *wasm.Plugin, q *Question) (Outcome, error) {
	o, err := m.put(ctx, p, q)
	if errors.Is(err, wasm.ErrNotReady) {
		return o, err
	}
	if err != nil {
		o = Outcome{Failure: err.Error()}
	}
	return o, q.judge(&o, err)
}

// put asks the hook of a question.
func (m *Module) put(ctx context.Context, p *wasm.Plugin, q *Question) (Outcome, error) {
	switch q.Hook {
	case abi.HookMerge:
		r, err := p.Merge(ctx, conflict(m.candidates, q.Image))
		answer := string(r.Answer)
		if r.Answer == wasm.MergeWinner {
			answer = fmt.Sprintf("%s-%d", answer, r.Winner)
		}
		return Outcome{
			Answer: answer, Reason: r.Reason, Message: r.Message, Explanation: r.Explanation,
			Warnings: r.Warnings, Annotations: r.Annotations, Patch: r.Patch, Fuel: r.Fuel,
		}, err
	case abi.HookFilter:
		r, err := p.Filter(ctx, change(q.Image))
		answer := string(r.Answer)
		if r.Answer == wasm.FilterDefer {
			answer = fmt.Sprintf("%s-%s", answer, r.DeferFor)
		}
		return Outcome{
			Answer: answer, Reason: r.Reason, Message: r.Message, Explanation: r.Explanation,
			Warnings: r.Warnings, Annotations: r.Annotations, Fuel: r.Fuel,
		}, err
	default:
		r, err := p.Admit(ctx, Request(q.Image))
		return Outcome{
			Answer: string(r.Answer), Reason: r.Reason, Message: r.Message, Explanation: r.Explanation,
			Warnings: r.Warnings, Annotations: r.Annotations, RetryAfter: r.RetryAfter, Patch: r.Patch, Fuel: r.Fuel,
		}, err
	}
}

func (q *Question) judge(o *Outcome, err error) error {
	switch {
	case err != nil && q.Want.Code == "":
		return fmt.Errorf("%s asked about %s it fails: %w; want %s", q.Hook, q.Image, err, &q.Want)
	case err != nil:
		return q.about(q.Want.failed(err))
	}
	return q.about(q.answered(o))
}

func (q *Question) about(err error) error {
	if err != nil {
		err = fmt.Errorf("%s asked about %s: %w", q.Hook, q.Image, err)
	}
	return err
}

// answered checks an answer.
func (q *Question) answered(r *Outcome) error {
	if q.Want.Code != "" || r.Answer != q.Want.Answer || !strings.Contains(r.Reason+" "+r.Message, q.Want.Part) {
		return fmt.Errorf("it answers %+v; want %s", *r, &q.Want)
	}
	if len(r.Reason) > maxReasonBytes || len(r.Message) > maxMessageBytes {
		return fmt.Errorf("a reason of %d bytes, a message of %d", len(r.Reason), len(r.Message))
	}
	if len(r.Patch) > 0 && r.Answer != "allow" && !strings.HasPrefix(r.Answer, "winner-") {
		return fmt.Errorf("it answers %+v: a patch of no pod", *r)
	}
	if r.RetryAfter != 0 && r.Answer != "hold" {
		return fmt.Errorf("it answers %+v: a time that nobody waits for", *r)
	}
	texts := []string{r.Reason, r.Message, r.Explanation, string(r.Patch)}
	texts = append(texts, r.Warnings...)
	for key, value := range r.Annotations {
		texts = append(texts, key, value)
	}
	for _, text := range texts {
		if err := printable(text); err != nil {
			return err
		}
		if q.Image == look && strings.Contains(text, secret) {
			return fmt.Errorf("it sees what another call wrote: %q", text)
		}
	}
	if q.Image == look && q.Want.Part == "" && !reflect.DeepEqual(*r, Outcome{Answer: r.Answer, Fuel: r.Fuel}) {
		return fmt.Errorf("it answers %+v, but said nothing", *r)
	}
	return nil
}

// failed checks a failure.
func (e *Expectation) failed(err error) error {
	failure, ok := errors.AsType[*abi.Failure](err)
	if !ok {
		return fmt.Errorf("an error of type %T: %w", err, err)
	}
	text := failure.Error()
	switch {
	case failure.Code != e.Code || !strings.Contains(text, e.Part):
		return fmt.Errorf("it ends with %w; want %s", err, e)
	case len(text) > maxFailureBytes:
		return fmt.Errorf("a failure of %d bytes of text", len(text))
	case strings.Contains(text, secret):
		return fmt.Errorf("the failure shows what was handed over before it: %w", err)
	}
	return printable(text)
}

// printable returns an error for text that could mislead its reader.
func printable(text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("text that is not UTF-8: %q", text)
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return fmt.Errorf("text that is not printable: %q", text)
		}
	}
	return nil
}

// String describes the expectation in a few words.
func (e *Expectation) String() string {
	if e.Code == "" {
		return strings.TrimSpace(fmt.Sprintf("the answer %s %s", e.Answer, e.Part))
	}
	return fmt.Sprintf("the failure %s with %q", e.Code, e.Part)
}
