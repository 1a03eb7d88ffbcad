package abi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
)

// host loads modules of the set and asks them questions.
type host struct {
	set     *set
	book    *notebook
	cache   string
	options []wasm.EngineOption

	mu sync.Mutex
	// engines are the engines that exist, by the level of their log.
	engines map[slog.Level]*wasm.Engine
	played  atomic.Int64
}

// newHost returns a host that is closed when the test ends. Hosts with the same kind of engine
// share compiled code.
func newHost(tb testing.TB, s *set, kind string, options ...wasm.EngineOption) *host {
	tb.Helper()
	limits := compile.Limits{CPU: 2 * time.Minute, Wall: 5 * time.Minute} // the race detector takes its time
	h := &host{
		set: s, book: &notebook{lines: map[string][]line{}}, cache: filepath.Join(workDir, kind),
		options: append(options, wasm.WithCompiling(limits, compile.Normal)), engines: map[slog.Level]*wasm.Engine{},
	}
	tb.Cleanup(func() {
		for _, e := range h.engines {
			if err := e.Close(); err != nil {
				tb.Error(err)
			}
		}
	})
	return h
}

func (h *host) engine(least slog.Level) (*wasm.Engine, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.engines[least]; e != nil {
		return e, nil
	}
	e, err := wasm.NewEngine(h.cache, slog.New(&scribe{book: h.book, least: least}), h.options...)
	if err == nil {
		h.engines[least] = e
	}
	return e, err
}

// plugin is a module loaded for one case.
type plugin struct {
	*wasm.Plugin

	host *host
	name string
}

// load loads a module with a policy; the failure says why the module was refused.
func (h *host) load(ctx context.Context, binary []byte, p *policy) (*plugin, *failure, error) {
	name := "case-" + strconv.FormatInt(h.played.Add(1), 10)
	e, err := h.engine(p.Log)
	if err != nil {
		return nil, nil, err
	}
	o, err := p.options(name)
	if err != nil {
		return nil, nil, err
	}
	loaded, err := e.Load(ctx, binary, o)
	h.book.take(name) // removes the lines of loading
	if err != nil {
		return nil, failureOf(err), nil
	}
	return &plugin{loaded, h, name}, nil, nil
}

// failureOf returns a failure with its code, which is empty if the module is not at fault.
func failureOf(err error) *failure {
	f := &failure{Says: text(err.Error())}
	if coded, ok := errors.AsType[*abi.Failure](err); ok {
		f.Code = string(coded.Code)
	}
	return f
}

// ask asks one question. The error says why the question cannot be asked.
func (p *plugin) ask(ctx context.Context, c *call) (want, error) {
	q, err := p.host.set.question(c)
	if err != nil {
		return want{}, err
	}
	w, err := p.answer(ctx, &q)
	if errors.Is(err, errQuestion) {
		return want{}, err
	}
	if err != nil {
		w = want{Failure: failureOf(err)}
	}
	w.Log = p.host.book.take(p.name)
	return w, nil
}

var errQuestion = errors.New("no question")

func (p *plugin) answer(ctx context.Context, q *question) (w want, err error) {
	switch q.Request.Hook {
	case abi.HookAdmit, abi.HookConnect:
		about, err := p.host.set.about(q)
		if err != nil {
			return w, fmt.Errorf("%w: %w", errQuestion, err)
		}
		ask := p.Admit
		if q.Request.Hook == abi.HookConnect {
			ask = p.Connect
		}
		r, err := ask(ctx, about)
		w = want{Answer: strings.ToLower(string(r.Answer)), RetryAfterMS: r.RetryAfter.Milliseconds(), Patch: text(r.Patch), Fuel: r.Fuel}
		w.say(r.Reason, r.Message, r.Explanation, r.Warnings, r.Annotations)
		return w, err
	case abi.HookMerge:
		choice, err := p.host.set.choice(q)
		if err != nil {
			return w, fmt.Errorf("%w: %w", errQuestion, err)
		}
		r, err := p.Merge(ctx, choice)
		w = want{Answer: string(r.Answer), Patch: text(r.Patch)}
		if r.Answer == wasm.MergeWinner {
			w.Winner = &r.Winner
		}
		w.say(r.Reason, r.Message, r.Explanation, r.Warnings, r.Annotations)
		return w, err
	case abi.HookFilter:
		about, err := p.host.set.about(q)
		if err != nil {
			return w, fmt.Errorf("%w: %w", errQuestion, err)
		}
		r, err := p.Filter(ctx, about)
		w = want{Answer: string(r.Answer), RetryAfterMS: r.DeferFor.Milliseconds()}
		w.say(r.Reason, r.Message, r.Explanation, r.Warnings, r.Annotations)
		return w, err
	}
	return w, fmt.Errorf("%w: no hook %q", errQuestion, q.Request.Hook)
}

func (w *want) say(reason, message, explanation string, warnings []string, annotations map[string]string) {
	w.Reason, w.Message, w.Explanation = text(reason), text(message), text(explanation)
	for _, warning := range warnings {
		w.Warnings = append(w.Warnings, text(warning))
	}
	for key, value := range annotations {
		if w.Annotations == nil {
			w.Annotations = map[string]text{}
		}
		w.Annotations[key] = text(value)
	}
}
