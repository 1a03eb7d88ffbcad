package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// scripts is a Loader whose modules are texts:
//
//	allow|deny|hold|abstain [CODE [MESSAGE]]  gives that answer
//	hold-for DURATION                         holds, and wants to be asked again then
//	deny-image IMAGE                          denies pods of that image, abstains of others
//	broken MESSAGE                            cannot be loaded
//	trap MESSAGE                              fails at each call
//	picky SCRIPT                              fails on pods whose names begin with "bad", else
//	                                          does as the script
//	unready                                   has no instance for any call
//	error MESSAGE                             fails with an error that is no *wasm.Failure
//	refused MESSAGE                           cannot be loaded until it is forgotten; allows
//	busy|unmapped                             the machine has it not loaded the first two times
//	late|unwell                               the machine fails its first two calls; allows,
//	                                          and by the hook merge does as the script after late
//	wait                                      denies once freed
//	quota N [NAME...]                         allows while fewer than N pods are on the
//	                                          node, else holds; without facts it fails
//	pinned DIGEST                             allows where the first object that the pod names
//	                                          is that, else denies and says what it is
//	winner N|keep|reject [CODE [MESSAGE]]     gives that answer to the hook merge
//	allow|deny|abstain [CODE [MESSAGE]]       is the answer to the hook connect, too
//	pass|drop|defer [CODE [MESSAGE]]          gives that answer to the hook filter;
//	                                          defers for an hour
//
// A text may go on after " # ", so that equal plugins have other digests.
type scripts struct {
	mu sync.Mutex
	// loaded are the policies whose plugins are loaded and not closed.
	loaded []string
	// loads counts all loads.
	loads int
	// calls are the calls: "POLICY POD".
	calls []string
	// options are those of the newest load of each policy.
	options map[string]wasm.Options
	// rests are how often each policy's plugin was told to rest.
	rests map[string]int
	// forgotten are the modules that were told to be forgotten.
	forgotten []string
	// faults counts the failures of the machine.
	faults int
	// requests are the newest call of each policy.
	requests map[string]wasm.Request
	// merges are the newest questions to the hook merge of each policy.
	merges map[string]wasm.MergeRequest
	// edit changes what a script answered, if it is set.
	edit func(policy string, r *wasm.Result)
	// patch is what a policy that names a winner makes of it, if it is set.
	patch func(policy string) []byte
	// loadFuel is what loading the plugin of a policy takes, warmFuel what warming any,
	// admitFuel what a call takes of the hook admit.
	loadFuel            map[string]int64
	warmFuel, admitFuel int64
	// loadCost is the processor time that loading any module takes of the host.
	loadCost time.Duration
	// free lets plugins that wait go on; they say on waits that they do.
	free  chan struct{}
	waits chan string
}

func newScripts() *scripts {
	return &scripts{
		options: map[string]wasm.Options{}, requests: map[string]wasm.Request{}, merges: map[string]wasm.MergeRequest{}, rests: map[string]int{},
		free: make(chan struct{}), waits: make(chan string, 100),
	}
}

func (s *scripts) Load(ctx context.Context, binary []byte, o wasm.Options) (Plugin, error) {
	wasm.AddCost(ctx, s.loadCost)
	text, _, _ := strings.Cut(string(binary), " # ")
	s.mu.Lock()
	defer s.mu.Unlock()
	if message, broken := strings.CutPrefix(text, "broken "); broken {
		if fuel := s.loadFuel[o.Policy]; fuel > 0 {
			return nil, &wasm.Failure{Code: wasm.Trap, Err: errors.New(message), Fuel: fuel}
		}
		return nil, errors.New(message)
	}
	s.loads++
	if message, refused := strings.CutPrefix(text, "refused "); refused && !slices.Contains(s.forgotten, text) {
		return nil, errors.New(message)
	}
	switch text {
	case "busy":
		if s.fault() {
			return nil, fmt.Errorf("%w: the node is busy", wasm.ErrNotCompiled)
		}
	case "unmapped":
		if s.fault() {
			return nil, &wasm.Failure{Code: wasm.HostError, Err: errors.New("map memory: cannot allocate memory")}
		}
	}
	s.loaded = append(s.loaded, o.Policy)
	s.options[o.Policy] = o
	return &script{of: s, policy: o.Policy, text: text}, nil
}

func (s *scripts) Forget(_ context.Context, binary []byte, _ wasm.Options) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten = append(s.forgotten, string(binary))
	return nil
}

// fault says that the machine fails, which it does twice. s.mu is held.
func (s *scripts) fault() bool {
	s.faults++
	return s.faults <= 2
}

// inUse are the policies whose plugins are loaded, in the order they were.
func (s *scripts) inUse() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.loaded)
}

func (s *scripts) called() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

type script struct {
	of           *scripts
	policy, text string
	closed       bool
}

func (p *script) Admit(_ context.Context, r *wasm.Request) (wasm.Result, error) {
	p.of.mu.Lock()
	if p.closed {
		p.of.mu.Unlock()
		return wasm.Result{}, fmt.Errorf("the plugin of %s was called after it was closed", p.policy)
	}
	p.of.calls = append(p.of.calls, p.policy+" "+r.Question.Pod.Name)
	p.of.requests[p.policy] = *r
	edit := p.of.edit
	word, rest := p.words(r.Question.Pod.Name)
	fault := (word == "late" || word == "unwell") && p.of.fault()
	p.of.mu.Unlock()

	result := wasm.Result{Fuel: p.of.admitFuel}
	switch word {
	case "trap":
		return wasm.Result{}, &wasm.Failure{Code: wasm.Trap, Err: errors.New(rest), Fuel: p.of.admitFuel}
	case "unready":
		return wasm.Result{}, wasm.ErrNotReady
	case "error":
		return wasm.Result{}, errors.New(rest)
	case "late", "unwell", "busy", "unmapped", "refused":
		switch result.Answer = api.Allow; {
		case fault && word == "late":
			return wasm.Result{}, wasm.ErrNotReady
		case fault:
			return wasm.Result{}, &wasm.Failure{Code: wasm.HostError, Err: errors.New("map memory: cannot allocate memory")}
		}
	case "wait":
		p.of.waits <- p.policy
		<-p.of.free
		result.Answer = api.Deny
	case "quota":
		if r.Node == nil {
			return wasm.Result{}, &wasm.Failure{Code: wasm.PluginError, Err: errors.New("nothing is known of the node")}
		}
		most, _ := strconv.Atoi(rest)
		result.Answer = api.Hold
		if len(r.Node.Pods) < most {
			result.Answer = api.Allow
		}
	case "pinned":
		result = wasm.Result{Answer: api.Deny, Reason: "Pin", Message: "it is nothing", Reads: []string{"request.references[*].digest"}}
		if len(r.References) > 0 {
			result.Message = "it is " + r.References[0].Digest
		}
		if result.Message == "it is "+rest {
			result.Answer = api.Allow
		}
	case "hold-for":
		result.Answer = api.Hold
		result.RetryAfter, _ = time.ParseDuration(rest)
	case "deny-image":
		result.Answer = api.Abstain
		if r.Question.Pod.Spec.Containers[0].Image == rest {
			result = wasm.Result{Answer: api.Deny, Reason: "ImageNotAllowed", Message: "image " + rest + " is not allowed", Fuel: p.of.admitFuel}
		}
	case "say-env", "deny-env":
		result.Answer = api.Allow
		if env := r.Question.Pod.Spec.Containers[0].Env; len(env) > 0 && (word == "say-env" || env[0].Value == rest) {
			result = wasm.Result{Answer: api.Deny, Reason: "Env", Message: env[0].Value, Fuel: p.of.admitFuel}
		}
	default:
		code, message, _ := strings.Cut(rest, " ")
		result = wasm.Result{Answer: api.Answer(word), Reason: code, Message: message, Fuel: p.of.admitFuel}
	}
	if edit != nil {
		edit(p.policy, &result)
	}
	return result, nil
}

// words are the script's first word and the rest for a pod.
func (p *script) words(pod string) (word, rest string) {
	word, rest, _ = strings.Cut(p.text, " ")
	switch {
	case word != "picky":
	case strings.HasPrefix(pod, "bad"):
		return "trap", "this pod is not for me"
	default:
		word, rest, _ = strings.Cut(rest, " ")
	}
	return word, rest
}

// begin records a call about a pod and returns the script's first word and the rest.
func (p *script) begin(what, pod string) (word, rest string, err error) {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.closed {
		return "", "", fmt.Errorf("the plugin of %s was called after it was closed", p.policy)
	}
	p.of.calls = append(p.of.calls, p.policy+" "+what)
	if word, rest = p.words(pod); word == "trap" {
		return "", "", &wasm.Failure{Code: wasm.Trap, Err: errors.New(rest), Fuel: 7}
	}
	return word, rest, nil
}

func (p *script) Merge(_ context.Context, m *wasm.MergeRequest) (r wasm.MergeResult, err error) {
	var sources []string
	for _, c := range m.Candidates {
		sources = append(sources, c.Origin.Source)
	}
	word, rest, err := p.begin("merges "+strings.Join(sources, " "), m.Candidates[0].Pod.Name)
	if err != nil {
		return r, err
	}
	p.of.mu.Lock()
	p.of.merges[p.policy] = *m
	late := word == "late" && p.of.fault()
	p.of.mu.Unlock()
	if late {
		return r, wasm.ErrNotReady
	}
	if word == "late" {
		word, rest, _ = strings.Cut(rest, " ")
	}
	if word == "winner" {
		number, more, _ := strings.Cut(rest, " ")
		r.Winner, _ = strconv.Atoi(number)
		rest = more
	}
	r.Answer, r.Fuel = wasm.MergeAnswer(word), 3
	r.Reason, r.Message, _ = strings.Cut(rest, " ")
	if r.Answer == wasm.MergeWinner && p.of.patch != nil {
		r.Patch = p.of.patch(p.policy)
	}
	return r, nil
}

func (p *script) Filter(_ context.Context, q *wasm.Request) (r wasm.FilterResult, err error) {
	word, rest, err := p.begin("filters "+q.Question.Pod.Name, q.Question.Pod.Name)
	if err != nil {
		return r, err
	}
	p.of.mu.Lock()
	p.of.requests[p.policy] = *q
	p.of.mu.Unlock()
	r.Answer, r.Fuel = wasm.FilterAnswer(word), 5
	r.Reason, r.Message, _ = strings.Cut(rest, " ")
	if r.Answer == wasm.FilterDefer {
		r.DeferFor = time.Hour
	}
	return r, nil
}

func (p *script) Connect(_ context.Context, q *wasm.Request) (r wasm.Result, err error) {
	word, rest, err := p.begin("connects "+q.Question.Pod.Name, q.Question.Pod.Name)
	if err != nil {
		return r, err
	}
	p.of.mu.Lock()
	p.of.requests[p.policy] = *q
	p.of.mu.Unlock()
	r.Answer, r.Fuel = api.Answer(word), 5
	r.Reason, r.Message, _ = strings.Cut(rest, " ")
	return r, nil
}

func (p *script) LoadFuel() int64 {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	return p.of.loadFuel[p.policy]
}

func (p *script) Warm(context.Context, []string) int64 { return p.of.warmFuel }

func (p *script) Settle(context.Context) {}

func (p *script) Rest() {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.rests[p.policy]++
}

func (p *script) Close() error {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.closed {
		return fmt.Errorf("the plugin of %s is closed twice", p.policy)
	}
	p.closed = true
	i := slices.Index(p.of.loaded, p.policy)
	p.of.loaded = slices.Delete(p.of.loaded, i, i+1)
	if p.policy == "bad-close" {
		return errors.New("memory is not given back")
	}
	return nil
}

// instant is the time of tests that need a fixed one.
var instant = time.Date(2026, time.November, 3, 12, 0, 0, 0, time.UTC)
