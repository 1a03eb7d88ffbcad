package policytest

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

// Scripts is a Loader whose modules are texts:
//
//	allow|deny|hold|abstain [CODE [MESSAGE]]  returns that answer
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
//	winner N|keep|reject [CODE [MESSAGE]]     returns that answer to the hook merge
//	allow|deny|abstain [CODE [MESSAGE]]       is the answer to the hook connect, too
//	pass|drop|defer [CODE [MESSAGE]]          returns that answer to the hook filter;
//	                                          defers for an hour
//
// A text may go on after " # ", so that equal plugins have other digests.
type Scripts struct {
	Mu sync.Mutex
	// loaded are the policies whose plugins are loaded and not closed.
	loaded []string
	// Loads counts all loads.
	Loads int
	// Log are the calls: "POLICY POD".
	Log []string
	// Options are those of the newest load of each policy.
	Options map[string]wasm.Options
	// Rests are how often each policy's plugin was told to rest.
	Rests map[string]int
	// forgotten are the modules that were told to be forgotten.
	forgotten []string
	// Faults counts the failures of the machine.
	Faults int
	// Requests are the newest call of each policy.
	Requests map[string]wasm.Request
	// Merges are the newest questions to the hook merge of each policy.
	Merges map[string]wasm.MergeRequest
	// Edit changes what a script answered, if it is set.
	Edit func(policy string, r *wasm.Result)
	// Patch is what a policy that names a winner makes of it, if it is set.
	Patch func(policy string) []byte
	// LoadFuel is what loading the plugin of a policy takes, warmFuel what warming any,
	// admitFuel what a call takes of the hook admit.
	LoadFuel            map[string]int64
	WarmFuel, AdmitFuel int64
	// LoadCost is the processor time that loading any module takes of the host.
	LoadCost time.Duration
	// Free lets plugins that wait go on; they say on waits that they do.
	Free  chan struct{}
	Waits chan string
}

// NewScripts returns a loader of scripts.
func NewScripts() *Scripts {
	return &Scripts{
		Options: map[string]wasm.Options{}, Requests: map[string]wasm.Request{}, Merges: map[string]wasm.MergeRequest{}, Rests: map[string]int{},
		Free: make(chan struct{}), Waits: make(chan string, 100),
	}
}

// Load makes a plugin of a script.
func (s *Scripts) Load(ctx context.Context, binary []byte, o wasm.Options) (*Script, error) {
	wasm.AddCost(ctx, s.LoadCost)
	text, _, _ := strings.Cut(string(binary), " # ")
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if message, broken := strings.CutPrefix(text, "broken "); broken {
		if fuel := s.LoadFuel[o.Policy]; fuel > 0 {
			return nil, &wasm.Failure{Code: wasm.Trap, Err: errors.New(message), Fuel: fuel}
		}
		return nil, errors.New(message)
	}
	s.Loads++
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
	s.Options[o.Policy] = o
	return &Script{of: s, policy: o.Policy, text: text}, nil
}

// Forget records that a module was to be forgotten.
func (s *Scripts) Forget(_ context.Context, binary []byte, _ wasm.Options) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.forgotten = append(s.forgotten, string(binary))
	return nil
}

// fault says that the machine fails, which it does twice. s.mu is held.
func (s *Scripts) fault() bool {
	s.Faults++
	return s.Faults <= 2
}

// InUse are the policies whose plugins are loaded, in the order they were.
func (s *Scripts) InUse() []string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Clone(s.loaded)
}

// Calls returns the calls so far.
func (s *Scripts) Calls() []string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Clone(s.Log)
}

// Script is a plugin that does what a script says. Its methods are those of policy.Plugin.
type Script struct {
	of           *Scripts
	policy, text string
	closed       bool
}

// Admit answers by the script, and records the call.
func (p *Script) Admit(_ context.Context, r *wasm.Request) (wasm.Result, error) {
	p.of.Mu.Lock()
	if p.closed {
		p.of.Mu.Unlock()
		return wasm.Result{}, fmt.Errorf("the plugin of %s was called after it was closed", p.policy)
	}
	p.of.Log = append(p.of.Log, p.policy+" "+r.Question.Pod.Name)
	p.of.Requests[p.policy] = *r
	edit := p.of.Edit
	word, rest := p.words(r.Question.Pod.Name)
	fault := (word == "late" || word == "unwell") && p.of.fault()
	p.of.Mu.Unlock()

	result := wasm.Result{Fuel: p.of.AdmitFuel}
	switch word {
	case "trap":
		return wasm.Result{}, &wasm.Failure{Code: wasm.Trap, Err: errors.New(rest), Fuel: p.of.AdmitFuel}
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
		p.of.Waits <- p.policy
		<-p.of.Free
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
			result = wasm.Result{Answer: api.Deny, Reason: "ImageNotAllowed", Message: "image " + rest + " is not allowed", Fuel: p.of.AdmitFuel}
		}
	case "say-env", "deny-env":
		result.Answer = api.Allow
		if env := r.Question.Pod.Spec.Containers[0].Env; len(env) > 0 && (word == "say-env" || env[0].Value == rest) {
			result = wasm.Result{Answer: api.Deny, Reason: "Env", Message: env[0].Value, Fuel: p.of.AdmitFuel}
		}
	default:
		code, message, _ := strings.Cut(rest, " ")
		result = wasm.Result{Answer: api.Answer(word), Reason: code, Message: message, Fuel: p.of.AdmitFuel}
	}
	if edit != nil {
		edit(p.policy, &result)
	}
	return result, nil
}

// words are the script's first word and the rest for a pod.
func (p *Script) words(pod string) (word, rest string) {
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
func (p *Script) begin(what, pod string) (word, rest string, err error) {
	p.of.Mu.Lock()
	defer p.of.Mu.Unlock()
	if p.closed {
		return "", "", fmt.Errorf("the plugin of %s was called after it was closed", p.policy)
	}
	p.of.Log = append(p.of.Log, p.policy+" "+what)
	if word, rest = p.words(pod); word == "trap" {
		return "", "", &wasm.Failure{Code: wasm.Trap, Err: errors.New(rest), Fuel: 7}
	}
	return word, rest, nil
}

// Merge answers by the script, and records the call.
func (p *Script) Merge(_ context.Context, m *wasm.MergeRequest) (r wasm.MergeResult, err error) {
	var sources []string
	for _, c := range m.Candidates {
		sources = append(sources, c.Origin.Source)
	}
	word, rest, err := p.begin("merges "+strings.Join(sources, " "), m.Candidates[0].Pod.Name)
	if err != nil {
		return r, err
	}
	p.of.Mu.Lock()
	p.of.Merges[p.policy] = *m
	late := word == "late" && p.of.fault()
	p.of.Mu.Unlock()
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
	if r.Answer == wasm.MergeWinner && p.of.Patch != nil {
		r.Patch = p.of.Patch(p.policy)
	}
	return r, nil
}

// Filter answers by the script, and records the call.
func (p *Script) Filter(_ context.Context, q *wasm.Request) (r wasm.FilterResult, err error) {
	word, rest, err := p.begin("filters "+q.Question.Pod.Name, q.Question.Pod.Name)
	if err != nil {
		return r, err
	}
	p.of.Mu.Lock()
	p.of.Requests[p.policy] = *q
	p.of.Mu.Unlock()
	r.Answer, r.Fuel = wasm.FilterAnswer(word), 5
	r.Reason, r.Message, _ = strings.Cut(rest, " ")
	if r.Answer == wasm.FilterDefer {
		r.DeferFor = time.Hour
	}
	return r, nil
}

// Connect answers by the script, and records the call.
func (p *Script) Connect(_ context.Context, q *wasm.Request) (r wasm.Result, err error) {
	word, rest, err := p.begin("connects "+q.Question.Pod.Name, q.Question.Pod.Name)
	if err != nil {
		return r, err
	}
	p.of.Mu.Lock()
	p.of.Requests[p.policy] = *q
	p.of.Mu.Unlock()
	r.Answer, r.Fuel = api.Answer(word), 5
	r.Reason, r.Message, _ = strings.Cut(rest, " ")
	return r, nil
}

// LoadFuel returns what Scripts.LoadFuel says of the policy.
func (p *Script) LoadFuel() int64 {
	p.of.Mu.Lock()
	defer p.of.Mu.Unlock()
	return p.of.LoadFuel[p.policy]
}

// Warm returns Scripts.WarmFuel.
func (p *Script) Warm(context.Context, []string) int64 { return p.of.WarmFuel }

// Settle does nothing.
func (p *Script) Settle(context.Context) {}

// Rest counts the call.
func (p *Script) Rest() {
	p.of.Mu.Lock()
	defer p.of.Mu.Unlock()
	p.of.Rests[p.policy]++
}

// Close fails where the script is closed already, or the policy is called bad-close.
func (p *Script) Close() error {
	p.of.Mu.Lock()
	defer p.of.Mu.Unlock()
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

// CallsAbout counts how often plugins were asked, about pods of names that begin so.
func (s *Scripts) CallsAbout(prefix string) (n int) {
	for _, call := range s.Calls() {
		words := strings.Fields(call)
		if strings.HasPrefix(words[len(words)-1], prefix) {
			n++
		}
	}
	return n
}

// Saw is what a policy was asked about in its newest call: image and labels.
func (s *Scripts) Saw(policy string) string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	r, ok := s.Requests[policy]
	if !ok {
		return "nothing"
	}
	p := r.Question.Pod
	return fmt.Sprintf("%s %v %v", p.Spec.Containers[0].Image, p.Labels, r.Changed)
}
