package review

import (
	"cmp"
	"context"
	"fmt"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/spec"
)

// confirmation asks to let a policy evict more. done is buffered.
type confirmation struct {
	tenant, policy string
	// sha256 is the beginning of the policy's digest, or empty.
	sha256 string
	done   chan error
}

// confirm does the work of Confirm on the goroutine of Run.
func (r *Reviewer) confirm(x *confirmation) error {
	f := r.effective()
	defer f.release()
	s := f.sets[x.tenant]
	p := s.Find(x.policy)
	switch {
	case p == nil:
		return fmt.Errorf("no policy %q is in force there; wardlet get policies lists them", x.policy)
	case !p.Evicts():
		return fmt.Errorf("%s evicts no pods: that takes the hook %q or %q or an expression, mode = %q and on_change = %q", p.Called(), api.HookAdmit, api.HookMerge, spec.ModeEnforce, spec.OnChangeEvict)
	case x.sha256 != "" && !p.HasDigest(x.sha256):
		return fmt.Errorf("%s is another by now, or the digest is too short: its module is %s, its document %s; look at it again before you confirm it",
			p.Called(), cmp.Or(p.ModuleSum, "none"), p.DocumentSum)
	}
	if err := r.limiters[x.tenant].confirm(s, p, r.judged(f, p), r.cfg.Now()); err != nil {
		return err
	}
	r.cfg.Logger.Warn("a policy is confirmed and evicts all pods that it denies", "policy", p.Name, "tenant", p.Tenant)
	r.display(f)
	return nil
}

// Confirm lets a policy in force evict all pods that it denies. If sha256 is not empty, the
// digest of the policy's module or document must begin with it.
func (r *Reviewer) Confirm(ctx context.Context, tenant, policy, sha256 string) error {
	x := confirmation{tenant, policy, sha256, make(chan error, 1)}
	select {
	case r.orders <- x:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-x.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
