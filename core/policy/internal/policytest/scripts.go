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
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// Scripts is a Loader whose modules are texts:
//
//	allow|deny|hold|abstain [CODE [MESSAGE]]  returns this answer
//	hold-for DURATION                         holds, with DURATION as the retry time
//	deny-image IMAGE                          denies pods of this image, abstains for others
//	broken MESSAGE                            cannot be loaded
//	trap MESSAGE                              fails at each call
//	picky SCRIPT                              fails on pods whose names begin with "bad",
//	                                          otherwise does what SCRIPT says
//	unready                                   has no instance for any call
//	error MESSAGE                             fails with an error other than *abi.Failure
//	refused MESSAGE                           cannot be loaded until it is forgotten; allows
//	busy|unmapped                             allows; the first two loads fail because of the
//	                                          machine
//	late|unwell                               allows; the first two calls fail because of the
//	                                          machine
//	late SCRIPT                               does for the hook merge what SCRIPT says, after
//	                                          two failures
//	wait                                      denies after a receive from Free
//	quota N [NAME...]                         allows while fewer than N pods are on the node,
//	                                          otherwise holds; fails without facts of the node
//	pinned DIGEST                             allows if the first object that the pod names
//	                                          has this digest, otherwise denies and says which
//	winner N|keep|reject [CODE [MESSAGE]]     returns this answer to the hook merge
//	allow|deny|abstain [CODE [MESSAGE]]       returns this answer to the hook connect, too
//	pass|drop|defer [CODE [MESSAGE]]          returns this answer to the hook filter; defers
//	                                          for an hour
//
// The text after " # " is ignored, so that equal plugins can have different digests.
type Scripts struct {
	Mu sync.Mutex
	// loaded are the policies whose plugins are loaded and not closed.
	loaded []string
	// Loads counts all loads.
	Loads int
	// Log has the calls: "POLICY POD".
	Log []string
	// Options are the options of the newest load of each policy.
	Options map[string]wasm.Options
	// Rests counts the calls of Trim for each policy's plugin.
	Rests map[string]int
	// forgotten are the modules that Forget was called with.
	forgotten []string
	// Faults counts the loads and calls that may fail because of the machine; the first two
	// fail.
	Faults int
	// Requests has the newest request to each policy.
	Requests map[string]abi.Request
	// Merges has the newest question of the hook merge to each policy.
	Merges map[string]abi.MergeRequest
	// Edit changes the result of a script, if it is set.
	Edit func(policy string, r *wasm.Result)
	// Patch returns a policy's patch of the winner that it names, if it is set.
	Patch func(policy string) []byte
	// LoadFuel is the fuel to load the plugin of a policy. WarmFuel is the fuel to warm any
	// plugin. AdmitFuel is the fuel of a call of the hook admit.
	LoadFuel            map[string]int64
	WarmFuel, AdmitFuel int64
	// LoadCost is the processor time of the host to load any module.
	LoadCost time.Duration
	// Free makes one waiting plugin continue with each value. A plugin that begins to wait
	// sends its policy's name on Waits.
	Free  chan struct{}
	Waits chan string
}

// NewScripts returns a loader of scripts.
func NewScripts() *Scripts {
	return &Scripts{
		Options: map[string]wasm.Options{}, Requests: map[string]abi.Request{}, Merges: map[string]abi.MergeRequest{}, Rests: map[string]int{},
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
			return nil, &abi.Failure{Code: abi.Trap, Err: errors.New(message), Fuel: fuel}
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
			return nil, &abi.Failure{Code: abi.HostError, Err: errors.New("map memory: cannot allocate memory")}
		}
	}
	s.loaded = append(s.loaded, o.Policy)
	s.Options[o.Policy] = o
	return &Script{of: s, policy: o.Policy, text: text}, nil
}

// Forget records the module.
func (s *Scripts) Forget(_ context.Context, binary []byte, _ wasm.Options) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.forgotten = append(s.forgotten, string(binary))
	return nil
}

// fault counts a fault and reports whether the machine fails now: the first two times. The
// caller holds s.Mu.
func (s *Scripts) fault() bool {
	s.Faults++
	return s.Faults <= 2
}

// InUse returns the policies whose plugins are loaded, in the order of loading.
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

// Admit answers as the script says, and records the call.
func (p *Script) Admit(_ context.Context, r *abi.Request) (wasm.Result, error) {
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
		return wasm.Result{}, &abi.Failure{Code: abi.Trap, Err: errors.New(rest), Fuel: p.of.AdmitFuel}
	case "unready":
		return wasm.Result{}, wasm.ErrNotReady
	case "error":
		return wasm.Result{}, errors.New(rest)
	case "late", "unwell", "busy", "unmapped", "refused":
		switch result.Answer = api.Allow; {
		case fault && word == "late":
			return wasm.Result{}, wasm.ErrNotReady
		case fault:
			return wasm.Result{}, &abi.Failure{Code: abi.HostError, Err: errors.New("map memory: cannot allocate memory")}
		}
	case "wait":
		p.of.Waits <- p.policy
		<-p.of.Free
		result.Answer = api.Deny
	case "quota":
		if r.Node == nil {
			return wasm.Result{}, &abi.Failure{Code: abi.PluginError, Err: errors.New("nothing is known of the node")}
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

// words returns the first word of the script for this pod, and the rest.
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
		return "", "", &abi.Failure{Code: abi.Trap, Err: errors.New(rest), Fuel: 7}
	}
	return word, rest, nil
}

// Merge answers as the script says, and records the call.
func (p *Script) Merge(_ context.Context, m *abi.MergeRequest) (r wasm.MergeResult, err error) {
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

// Filter answers as the script says, and records the call.
func (p *Script) Filter(_ context.Context, q *abi.Request) (r wasm.FilterResult, err error) {
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

// Connect answers as the script says, and records the call.
func (p *Script) Connect(_ context.Context, q *abi.Request) (r wasm.Result, err error) {
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

// LoadFuel returns the policy's entry in Scripts.LoadFuel.
func (p *Script) LoadFuel() int64 {
	p.of.Mu.Lock()
	defer p.of.Mu.Unlock()
	return p.of.LoadFuel[p.policy]
}

// Warm returns Scripts.WarmFuel.
func (p *Script) Warm(context.Context, []string) int64 { return p.of.WarmFuel }

// Reset does nothing.
func (p *Script) Reset(context.Context) {}

// Trim counts the call.
func (p *Script) Trim() {
	p.of.Mu.Lock()
	defer p.of.Mu.Unlock()
	p.of.Rests[p.policy]++
}

// Close fails if the script is closed already, or if the policy's name is bad-close.
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

// CallsAbout returns how many calls were about pods whose names begin with prefix.
func (s *Scripts) CallsAbout(prefix string) (n int) {
	for _, call := range s.Calls() {
		words := strings.Fields(call)
		if strings.HasPrefix(words[len(words)-1], prefix) {
			n++
		}
	}
	return n
}

// Saw returns the image, the labels and the changed fields of the newest request to a policy.
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
