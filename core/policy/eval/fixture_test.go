package eval

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

// loadOnce loads the policies of a directory and shares the plugins of running. It does not
// run the policies' tests.
func loadOnce(t *testing.T, d policytest.Tree, s *policytest.Scripts, running *Set) (*Set, error) {
	t.Helper()
	return loadFor(t, d, s, running, "", slog.New(slog.DiscardHandler))
}

// loadFor is loadOnce for a tenant.
func loadFor(t *testing.T, d policytest.Tree, s *policytest.Scripts, running *Set, tenant string, log *slog.Logger) (*Set, error) {
	t.Helper()
	b := bundle.Read(bundle.Options{Dir: d.Dir})
	if err := b.Err(); err != nil {
		return nil, err
	}
	var all []*Policy
	var errs []error
	for _, doc := range b.Documents {
		p := &Policy{Document: doc, Tenant: tenant, ModuleSum: b.Files[doc.Module].Sum, DocumentSum: b.Files[doc.Path].Sum, Log: log, Counters: &Counters{}}
		all = append(all, p)
		was := running.Find(doc.Name)
		if was != nil {
			p.Counters = was.Counters
		}
		if doc.Mode == spec.ModeOff || doc.IsGroup() {
			continue
		}
		options := doc.PluginOptions("node-1")
		options.Tenant = tenant
		if was != nil && was.Plugin != nil && was.Plugin.MadeFrom(p.ModuleSum, &options) {
			p.Plugin = was.Plugin.Acquire()
			continue
		}
		plugin, err := s.Load(t.Context(), b.Files[doc.Module].Data, options)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p.Plugin = NewSharedPlugin(plugin, p.ModuleSum, options, log)
	}
	loaded := NewSet(b.Digest(), all)
	loaded.Tenant = tenant
	if err := errors.Join(errs...); err != nil {
		loaded.Release()
		return nil, err
	}
	return loaded, nil
}

// deciding returns a decision on a question from a file, at a fixed time.
func deciding(q api.Question) *Decision {
	return &Decision{Hook: api.HookAdmit, Node: "node-1", Request: policytest.Request(q), Names: []string{q.Pod.Namespace + "/" + q.Pod.Name}, Current: &sched.CurrentPolicy{}}
}
