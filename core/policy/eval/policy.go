package eval

import (
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
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// Policy is one policy of a set.
type Policy struct {
	*spec.Document
	// Tenant is the owner, empty for the operator.
	Tenant string
	// ModuleSum is the digest of the policy's module. DocumentSum is the digest of its
	// document.
	ModuleSum, DocumentSum string
	// Plugin is nil for a group, and in mode off.
	Plugin *SharedPlugin
	// Members are the members of a group. MembersSum identifies them with their modules.
	Members    []*Policy
	MembersSum string
	// Reviewed reports that the policy is a member of a group that judges running pods.
	Reviewed bool
	Counters *Counters
	Log      *slog.Logger
	// Candidate is the policy in mode shadow that may replace it, nil for none.
	Candidate *Policy
}

// MadeOf returns the digest of the module or, for a group, of its members.
func (p *Policy) MadeOf() string {
	if p.Group != nil {
		return p.MembersSum
	}
	return p.ModuleSum
}

// Has reports whether the hook asks the policy.
func (p *Policy) Has(hook string) bool {
	return p.Mode != spec.ModeOff && slices.Contains(p.Hooks, hook)
}

// ReadsNode reports whether the policy may see the node.
func (p *Policy) ReadsNode() bool { return slices.Contains(p.Capabilities, abi.CapabilityNodeRead) }

// ShownMode returns the mode of the policy's opinions, empty if they count.
func (p *Policy) ShownMode() string {
	if p.Mode == spec.ModeEnforce {
		return ""
	}
	return p.Mode
}

// Called returns the policy's name, for a message.
func (p *Policy) Called() string { return Called(p.Name, p.Tenant) }

// Called returns the name of a policy of an owner, for a message.
func Called(name, tenant string) string {
	if tenant == "" {
		return fmt.Sprintf("policy %q", name)
	}
	return fmt.Sprintf("policy %q of tenant %q", name, tenant)
}

// Reviews reports whether the policy judges running pods by the hook admit.
func (p *Policy) Reviews() bool {
	return p.OnChange != spec.OnChangeIgnore && p.Mode == spec.ModeEnforce && (p.Has(api.HookAdmit) || p.Group != nil)
}

// JudgesRunning reports whether the policy's opinion about running pods, or about conflicts
// that they are part of, counts.
func (p *Policy) JudgesRunning() bool { return p.Reviews() || p.Rejects() }

// Rejects reports whether a running pod violates the policy if the policy rejects all
// documents that claim the pod's identity.
func (p *Policy) Rejects() bool {
	return p.OnChange != spec.OnChangeIgnore && p.Mode == spec.ModeEnforce && p.Has(api.HookMerge)
}

// Evicts reports whether running pods that the policy denies are evicted.
func (p *Policy) Evicts() bool { return p.JudgesRunning() && p.OnChange == spec.OnChangeEvict }

// Command returns a command line for the policy's owner, quoted.
func (p *Policy) Command(what string) string {
	command := "wardlet policy " + what
	if p.Tenant != "" {
		command += " --tenant " + p.Tenant
	}
	return `"` + command + `"`
}

// Confirmation returns the command that confirms the policy.
func (p *Policy) Confirmation() string { return p.Command("confirm " + p.Name) }

// HasDigest reports whether the digest of the policy's module or document begins with
// digest, which has at least leastDigest digits.
func (p *Policy) HasDigest(digest string) bool {
	digest = strings.ToLower(digest)
	return len(digest) >= leastDigest && (strings.HasPrefix(p.ModuleSum, digest) || strings.HasPrefix(p.DocumentSum, digest))
}

// leastDigest is how many digits of a digest a command must name.
const leastDigest = 12

// Decides reports whether verdicts can depend on the policy's plugin.
func (p *Policy) Decides() bool {
	return p.Plugin != nil && (p.Mode == spec.ModeEnforce || p.Mode == spec.ModeMember)
}

// State returns what `get policies` shows of the policy.
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

// Counters count the opinions of one policy, as long as a policy of that name is in force.
// Answers of other hooks are counted as the most similar answer of admission: an update
// that passes and a named winner as allowed, an update that is held back and a conflict
// that changes nothing as held, a conflict without a winner as denied.
type Counters struct {
	allowed, Denied, held, abstained, failed atomic.Uint64
	// failure is the message of the newest failure.
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

// fail records a failure and reports whether it differs from the one before.
func (c *Counters) fail(message string) (news bool) {
	before := c.failure.Swap(&message)
	return before == nil || *before != message
}

// show sets the fields of `get policies`.
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
