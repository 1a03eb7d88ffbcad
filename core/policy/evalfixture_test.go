package policy

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/spec"
)

// loadOnce loads what a directory holds, and shares the plugins of running. It does not
// run the policies' tests.
func loadOnce(t *testing.T, d policytest.Tree, s *policytest.Scripts, running *set) (*set, error) {
	t.Helper()
	return loadFor(t, d, s, running, "", slog.New(slog.DiscardHandler))
}

// loadFor is loadOnce for a tenant.
func loadFor(t *testing.T, d policytest.Tree, s *policytest.Scripts, running *set, tenant string, log *slog.Logger) (*set, error) {
	t.Helper()
	b := bundle.Read(bundle.Options{Dir: d.Dir})
	if err := b.Err(); err != nil {
		return nil, err
	}
	var all []*policy
	var errs []error
	for _, doc := range b.Documents {
		p := &policy{Document: doc, tenant: tenant, sum: b.Files[doc.Module].Sum, source: b.Files[doc.Path].Sum, log: log, counts: &counters{}}
		all = append(all, p)
		was := running.find(doc.Name)
		if was != nil {
			p.counts = was.counts
		}
		if doc.Mode == spec.ModeOff || doc.IsGroup() {
			continue
		}
		options := doc.PluginOptions("node-1")
		options.Tenant = tenant
		if was != nil && was.plugin != nil && was.plugin.madeFrom(p.sum, &options) {
			p.plugin = was.plugin.acquire()
			continue
		}
		plugin, err := s.Load(t.Context(), b.Files[doc.Module].Data, options)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p.plugin = newHandle(plugin, p.sum, options, log)
	}
	loaded := newSet(b.Digest(), all)
	loaded.tenant = tenant
	if err := errors.Join(errs...); err != nil {
		loaded.release()
		return nil, err
	}
	return loaded, nil
}

// deciding is a decision on a question from a file, at a fixed time.
func deciding(q api.Question) *decision {
	return &decision{hook: api.HookAdmit, node: "node-1", request: policytest.Request(q), names: []string{q.Pod.Namespace + "/" + q.Pod.Name}, at: &sched.CurrentPolicy{}}
}
