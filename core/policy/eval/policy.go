package eval

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// Policy is one policy of a set.
type Policy struct {
	*spec.Document
	// Tenant is whose it is, empty for the operator's.
	Tenant string
	// ModuleSum is the digest of its module, source that of its document.
	ModuleSum, DocumentSum string
	// Plugin is nil in mode off.
	Plugin *SharedPlugin
	// Members are the members of a group, members identifies them with what they are made of.
	Members    []*Policy
	MembersSum string
	// Reviewed: a group judges pods that run, and the policy is one of its members.
	Reviewed bool
	Counters *Counters
	Log      *slog.Logger
	// Candidate is the one in mode shadow that may take its place, nil for none.
	Candidate *Policy
}

// MadeOf identifies what answers for the policy: its module, or the members of a group.
func (p *Policy) MadeOf() string {
	if p.Group != nil {
		return p.MembersSum
	}
	return p.ModuleSum
}

// Has reports whether the policy is asked by a hook.
func (p *Policy) Has(hook string) bool {
	return p.Mode != spec.ModeOff && slices.Contains(p.Hooks, hook)
}

// ReadsNode reports whether the policy may see facts about the node.
func (p *Policy) ReadsNode() bool { return slices.Contains(p.Capabilities, wasm.CapabilityNodeRead) }

// ShownMode is the mode of an opinion of the policy: empty where it counts.
func (p *Policy) ShownMode() string {
	if p.Mode == spec.ModeEnforce {
		return ""
	}
	return p.Mode
}

// Called is the policy's name, for a message.
func (p *Policy) Called() string { return Called(p.Name, p.Tenant) }

// Called returns the name of a policy of an owner, for a message.
func Called(name, tenant string) string {
	if tenant == "" {
		return fmt.Sprintf("policy %q", name)
	}
	return fmt.Sprintf("policy %q of tenant %q", name, tenant)
}

// Reviews reports whether the policy judges pods that run.
func (p *Policy) Reviews() bool {
	return p.OnChange != spec.OnChangeIgnore && p.Mode == spec.ModeEnforce && (p.Has(api.HookAdmit) || p.Group != nil)
}

// JudgesRunning reports whether the policy has an opinion about pods that run, which counts: on
// them or, with the hook merge, on the conflicts in which they stand.
func (p *Policy) JudgesRunning() bool { return p.Reviews() || p.Rejects() }

// Rejects reports whether something becomes of pods that run where the policy rejects
// all documents that claim their identity.
func (p *Policy) Rejects() bool {
	return p.OnChange != spec.OnChangeIgnore && p.Mode == spec.ModeEnforce && p.Has(api.HookMerge)
}

// Evicts reports whether pods that run are ended for what the policy says.
func (p *Policy) Evicts() bool { return p.JudgesRunning() && p.OnChange == spec.OnChangeEvict }

// Command is one for the policy's owner.
func (p *Policy) Command(what string) string {
	command := "wardlet policy " + what
	if p.Tenant != "" {
		command += " --tenant " + p.Tenant
	}
	return `"` + command + `"`
}

// Confirmation is the command that confirms the policy.
func (p *Policy) Confirmation() string { return p.Command("confirm " + p.Name) }

// HasDigest reports whether the digest of the policy's module or document begins so.
func (p *Policy) HasDigest(digest string) bool {
	digest = strings.ToLower(digest)
	return len(digest) >= leastDigest && (strings.HasPrefix(p.ModuleSum, digest) || strings.HasPrefix(p.DocumentSum, digest))
}

// leastDigest is how much of a digest has to be named.
const leastDigest = 12

// Decides reports whether verdicts depend on the policy's plugin.
func (p *Policy) Decides() bool {
	return p.Plugin != nil && (p.Mode == spec.ModeEnforce || p.Mode == spec.ModeMember)
}

// State is what `get policies` shows of a policy.
func (p *Policy) State(path func(string) string) api.PolicyState {
	s := api.PolicyState{
		Name: p.Name, Document: path(p.Path), SHA256: p.ModuleSum,
		Hooks: p.Hooks, Mode: p.Mode, Priority: p.Priority, OnError: string(p.OnError), OnChange: p.OnChange,
		MutablePaths: p.MutablePaths, Capabilities: p.Capabilities,
	}
	if p.Group == nil {
		s.Module = path(p.Module)
	} else {
		s.Expression, s.OnError = *p.Expression, ""
	}
	p.Counters.show(&s)
	if p.Plugin != nil {
		s.Breakers = p.Plugin.Breakers.show()
	}
	return s
}

// IsMachineFailure says of why a plugin could not be loaded or asked that it may be
// over next time, and says nothing about the plugin.
func IsMachineFailure(err error) bool {
	failure, ok := errors.AsType[*wasm.Failure](err)
	return errors.Is(err, wasm.ErrNotCompiled) || ok && (failure.Code == wasm.HostError || failure.Code == wasm.NotReady)
}

// Counters count the opinions of one policy, for as long as its name is in
// force. What filters and merge policies say is counted as that of admission it is
// most like: an update that passes and a named winner as allowed, what is held back
// and a conflict that changes nothing as held, a conflict nobody wins as denied.
type Counters struct {
	allowed, Denied, held, abstained, failed atomic.Uint64
	// failure is the newest one.
	failure atomic.Pointer[string]

	mu    sync.Mutex
	codes map[string]uint64 // failures by their code
}

func (c *Counters) count(o *api.Opinion) {
	switch o.Answer {
	case api.Allow, api.Answer(api.Pass):
		c.allowed.Add(1)
	case api.Deny, api.Answer(wasm.MergeReject):
		c.Denied.Add(1)
	case api.Hold, api.Answer(api.Defer), api.Answer(api.Drop), api.Answer(wasm.MergeKeep):
		c.held.Add(1)
	case api.Abstain:
		c.abstained.Add(1)
	default:
		if strings.HasPrefix(string(o.Answer), winnerPrefix) {
			c.allowed.Add(1)
		}
	}
	if o.Failure != "" && o.Failure != string(ReferencesUnknown) {
		c.failed.Add(1)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.codes == nil {
			c.codes = map[string]uint64{}
		}
		c.codes[o.Failure]++
	}
}

// fail remembers a failure and reports whether the one before was another.
func (c *Counters) fail(message string) (news bool) {
	before := c.failure.Swap(&message)
	return before == nil || *before != message
}

// show fills in what `get policies` shows.
func (c *Counters) show(s *api.PolicyState) {
	s.Allowed, s.Denied, s.Held = c.allowed.Load(), c.Denied.Load(), c.held.Load()
	s.Abstained, s.Failed = c.abstained.Load(), c.failed.Load()
	c.mu.Lock()
	s.Failures = maps.Clone(c.codes)
	c.mu.Unlock()
	if failure := c.failure.Load(); failure != nil {
		s.LastFailure = *failure
	}
}

// IsMachineOpinion reports whether an opinion comes from a failure of the machine, or from
// failures on other pods, and says nothing about the policy.
func IsMachineOpinion(o *api.Opinion) bool {
	return o.Failure == string(wasm.NotReady) || o.Failure == string(wasm.HostError) || o.Failure == string(BreakerWaits) || o.Failure == string(ReferencesUnknown)
}
