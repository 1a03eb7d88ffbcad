package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// set is the policies of one content of the directory. It does not change.
type set struct {
	// tenant is whose set it is, empty for the operator's.
	tenant string
	// digest identifies the content.
	digest string
	// policies are in the order they are asked.
	policies []*policy
	// candidates are those in mode shadow; each is that of one of the policies.
	candidates []*policy
	// users counts the decisions that use the set, and its being in force.
	users atomic.Int64
}

// policy is one policy of a set.
type policy struct {
	*spec.Document
	// tenant is whose it is, empty for the operator's.
	tenant string
	// sum is the digest of its module, source that of its document.
	sum, source string
	// plugin is nil in mode off.
	plugin *handle
	// of are the members of a group, members identifies them with what they are made of.
	of      []*policy
	members string
	// reviewed: a group judges pods that run, and the policy is one of its members.
	reviewed bool
	counts   *counters
	log      *slog.Logger
	// candidate is the one in mode shadow that may take its place, nil for none.
	candidate *policy
}

func newSet(digest string, policies []*policy) *set {
	s := &set{digest: digest}
	for _, p := range policies {
		if p.Mode == spec.ModeShadow {
			s.candidates = append(s.candidates, p)
		} else {
			s.policies = append(s.policies, p)
		}
	}
	for _, c := range s.candidates {
		if p := s.find(c.Name); p != nil {
			p.candidate = c
		}
	}
	s.joinGroups()
	s.users.Store(1)
	slices.SortFunc(s.policies, func(a, b *policy) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
	})
	return s
}

// made identifies what answers for the policy: its module, or the members of a group.
func (p *policy) made() string {
	if p.Group != nil {
		return p.members
	}
	return p.sum
}

// named is the digest, after the tenant's name where it is a tenant's set.
func (s *set) named() string {
	if s.tenant == "" {
		return s.digest
	}
	return s.tenant + "/" + s.digest
}

// find gives the policy of a name, nil where there is none. The set may be
// nil.
func (s *set) find(name string) *policy {
	if s == nil {
		return nil
	}
	for _, p := range s.policies {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// candidate gives the policy in mode shadow of a name, nil where there is none. The set
// may be nil.
func (s *set) candidate(name string) *policy {
	if s != nil {
		for _, c := range s.candidates {
			if c.Name == name {
				return c
			}
		}
	}
	return nil
}

// all are the policies with the candidates.
func (s *set) all() []*policy { return slices.Concat(s.policies, s.candidates) }

// addHooks adds the hooks of the policies that are asked. The set may be nil.
func (s *set) addHooks(hooks map[string]bool) {
	if s == nil {
		return
	}
	for _, p := range s.policies {
		for _, hook := range p.Hooks {
			hooks[hook] = hooks[hook] || p.Mode != spec.ModeOff
		}
	}
}

// has reports whether the policy is asked by a hook.
func (p *policy) has(hook string) bool {
	return p.Mode != spec.ModeOff && slices.Contains(p.Hooks, hook)
}

// readsNode reports whether the policy may see facts about the node.
func (p *policy) readsNode() bool { return slices.Contains(p.Capabilities, wasm.CapabilityNodeRead) }

// counted is the mode of an opinion of the policy: empty where it counts.
func (p *policy) counted() string {
	if p.Mode == spec.ModeEnforce {
		return ""
	}
	return p.Mode
}

// called is the policy's name, for a message.
func (p *policy) called() string { return called(p.Name, p.tenant) }

func called(name, tenant string) string {
	if tenant == "" {
		return fmt.Sprintf("policy %q", name)
	}
	return fmt.Sprintf("policy %q of tenant %q", name, tenant)
}

// settle makes the plugins ready for the next question.
func (s *set) settle(ctx context.Context) {
	for _, p := range s.policies {
		if p.plugin != nil {
			p.plugin.plugin.Settle(ctx)
		}
	}
}

// rest has the plugins give back what they have not needed lately. The set may
// be nil.
func (s *set) rest() {
	if s == nil {
		return
	}
	for _, p := range s.all() {
		if p.plugin != nil {
			p.plugin.plugin.Rest()
		}
	}
}

// closeBreakers closes those of all plugins, and reports whether any had failed. The set
// may be nil.
func (s *set) closeBreakers() (had bool) {
	if s == nil {
		return false
	}
	for _, p := range s.all() {
		if p.plugin != nil && p.plugin.breakers.close() {
			had = true
		}
	}
	return had
}

// release gives one use of the set back, and its plugins after the last.
func (s *set) release() {
	if s == nil || s.users.Add(-1) > 0 {
		return
	}
	for _, p := range s.all() {
		if p.plugin != nil {
			p.plugin.release()
		}
	}
}

// reviews reports whether the policy judges pods that run.
func (p *policy) reviews() bool {
	return p.OnChange != spec.OnChangeIgnore && p.Mode == spec.ModeEnforce && (p.has(api.HookAdmit) || p.Group != nil)
}

// minds reports whether the policy has an opinion about pods that run, which counts: on
// them or, with the hook merge, on the conflicts in which they stand.
func (p *policy) minds() bool { return p.reviews() || p.rejects() }

// rejects reports whether something becomes of pods that run where the policy rejects
// all documents that claim their identity.
func (p *policy) rejects() bool {
	return p.OnChange != spec.OnChangeIgnore && p.Mode == spec.ModeEnforce && p.has(api.HookMerge)
}

// evicts reports whether pods that run are ended for what the policy says.
func (p *policy) evicts() bool { return p.minds() && p.OnChange == spec.OnChangeEvict }

// command is one for the policy's owner.
func (p *policy) command(what string) string {
	command := "wardlet policy " + what
	if p.tenant != "" {
		command += " --tenant " + p.tenant
	}
	return `"` + command + `"`
}

// confirmation is the command that confirms the policy.
func (p *policy) confirmation() string { return p.command("confirm " + p.Name) }

// isOf reports whether the digest of the policy's module or document begins so.
func (p *policy) isOf(digest string) bool {
	digest = strings.ToLower(digest)
	return len(digest) >= leastDigest && (strings.HasPrefix(p.sum, digest) || strings.HasPrefix(p.source, digest))
}

// leastDigest is how much of a digest has to be named.
const leastDigest = 12

// weighs reports whether verdicts depend on the policy's plugin.
func (p *policy) weighs() bool {
	return p.plugin != nil && (p.Mode == spec.ModeEnforce || p.Mode == spec.ModeMember)
}

// reviews reports whether a policy of the set has an opinion about pods that run. The
// set may be nil.
func (s *set) reviews() bool {
	return s != nil && slices.ContainsFunc(s.policies, (*policy).minds)
}

// state is what `get policies` shows of a policy.
func (p *policy) state(path func(string) string) api.PolicyState {
	s := api.PolicyState{
		Name: p.Name, Document: path(p.Path), SHA256: p.sum,
		Hooks: p.Hooks, Mode: p.Mode, Priority: p.Priority, OnError: string(p.OnError), OnChange: p.OnChange,
		MutablePaths: p.MutablePaths, Capabilities: p.Capabilities,
	}
	if p.Group == nil {
		s.Module = path(p.Module)
	} else {
		s.Expression, s.OnError = *p.Expression, ""
	}
	p.counts.show(&s)
	if p.plugin != nil {
		s.Breakers = p.plugin.breakers.show()
	}
	return s
}

// ofMachine says of why a plugin could not be loaded or asked that it may be
// over next time, and says nothing about the plugin.
func ofMachine(err error) bool {
	failure, ok := errors.AsType[*wasm.Failure](err)
	return errors.Is(err, wasm.ErrNotCompiled) || ok && (failure.Code == wasm.HostError || failure.Code == wasm.NotReady)
}
