package mux

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/test/mutants"
)

// seeded is what a fault remembers of one mux.
type seeded struct {
	source   string
	snapshot bool
	named    map[types.UID]bool
	// seen are the sources that have given a snapshot, restored the pods that
	// no source has confirmed, late what is kept back.
	seen     map[string]bool
	restored map[types.UID]api.Change
	late     []api.Change
}

// seededFault is one way to be wrong: with what comes in, or with what goes out.
type seededFault struct {
	in  func(*seeded, *delivery)
	out func(*seeded, *outcome)
	// verdict is wrong with what the gate says.
	verdict func(*api.Verdict)
}

// on and onVerdicts are the faults that are switched on in all muxes. Those of verdicts
// only show where there is a gate.
var (
	on         = mutants.Register("mux", faults)
	onVerdicts = mutants.Register("mux verdicts", verdictFaults)
)

func (s *seeded) delivery(d *delivery) {
	s.source, s.snapshot, s.named = d.source, d.snapshot, map[types.UID]bool{}
	for i := range d.docs {
		if d.docs[i].Pod != nil {
			s.named[d.docs[i].Pod.UID] = true
		}
	}
	if f := on.Fault().in; f != nil {
		f(s, d)
	}
}

func (s *seeded) outcome(out *outcome) {
	if f := on.Fault().out; f != nil {
		f(s, out)
	}
	if s.seen == nil {
		s.seen, s.restored = map[string]bool{}, map[types.UID]api.Change{}
	}
	for _, c := range out.changes {
		if c.Op == api.Restore {
			s.restored[c.New.UID] = c
		} else {
			delete(s.restored, c.Pod().UID)
		}
	}
	s.seen[s.source] = s.seen[s.source] || s.snapshot
}

func (s *seeded) verdict(v api.Verdict) api.Verdict {
	if f := onVerdicts.Fault().verdict; f != nil {
		f(&v)
	}
	return v
}

var verdictFaults = map[string]seededFault{
	"held-version-passes":   {verdict: func(v *api.Verdict) { takeFor(v, api.Hold, api.Allow) }},
	"denied-version-passes": {verdict: func(v *api.Verdict) { takeFor(v, api.Deny, api.Allow) }},
	"held-is-denied":        {verdict: func(v *api.Verdict) { takeFor(v, api.Hold, api.Deny) }},
}

func takeFor(v *api.Verdict, is, as api.Answer) {
	if v.Answer == is {
		v.Answer = as
	}
}

var faults = map[string]seededFault{
	"remove-after-add": {out: func(_ *seeded, out *outcome) { swap(out, api.Remove, api.Add) }},
	"reconcile-first":  {out: func(_ *seeded, out *outcome) { swap(out, api.Add, api.Reconcile) }},

	"annotation-change-ignored": {out: ignore(func(c api.Change) bool { return c.Changed == pod.FieldAnnotations })},
	"label-change-ignored":      {out: ignore(func(c api.Change) bool { return c.Changed == pod.FieldLabels })},
	"grace-change-ignored": {out: ignore(func(c api.Change) bool {
		return c.Changed == pod.FieldDeletionGracePeriod && c.Old.DeletionTimestamp != nil
	})},
	"reconcile-dropped": {out: ignore(isOp(api.Reconcile))},
	"delete-dropped":    {out: ignore(isOp(api.Delete))},
	"restore-dropped":   {out: ignoreOne(isOp(api.Restore))},
	"removal-of-snapshot-lost": {out: func(s *seeded, out *outcome) {
		if s.snapshot {
			ignoreOne(isOp(api.Remove))(s, out)
		}
	}},

	"delete-as-update":    {out: rename(api.Delete, api.UpdateOp)},
	"update-as-reconcile": {out: rename(api.UpdateOp, api.Reconcile)},
	"reconcile-as-update": {out: rename(api.Reconcile, api.UpdateOp)},

	"seen-before-snapshot": {out: func(s *seeded, out *outcome) {
		if s.source != "" && !s.snapshot && !s.seen[s.source] {
			out.seen = s.source
		}
	}},
	"seen-twice": {out: func(s *seeded, out *outcome) {
		if s.snapshot {
			out.seen = s.source
		}
	}},
	"empty-snapshot-not-seen": {out: func(_ *seeded, out *outcome) {
		if len(out.changes) == 0 {
			out.seen = ""
		}
	}},

	"add-twice": {out: func(_ *seeded, out *outcome) {
		if i := slices.IndexFunc(out.changes, isOp(api.Add)); i >= 0 {
			out.changes = slices.Insert(out.changes, i, out.changes[i])
		}
	}},
	"add-after-restore": {out: func(s *seeded, out *outcome) {
		for uid, c := range s.restored {
			if s.named[uid] && c.Source == s.source {
				c.Op = api.Add
				out.changes = append(out.changes, c)
				delete(s.restored, uid)
			}
		}
		slices.SortStableFunc(out.changes, func(a, b api.Change) int { return cmp.Compare(rank[a.Op], rank[b.Op]) })
	}},
	"old-pod-handed-on": {out: func(_ *seeded, out *outcome) {
		for i := range out.changes {
			if c := &out.changes[i]; c.Op == api.UpdateOp {
				c.New = c.Old
			}
		}
	}},
	"replacement-as-update": {out: func(_ *seeded, out *outcome) {
		for i := range out.changes {
			c := &out.changes[i]
			if c.Op != api.Add {
				continue
			}
			if j := slices.IndexFunc(out.changes, replacedBy(c)); j >= 0 {
				c.Op, c.Old, c.Replaces = api.UpdateOp, out.changes[j].Old, ""
				out.changes = slices.Delete(out.changes, j, j+1)
				return
			}
		}
	}},
	"wrong-source": {out: func(_ *seeded, out *outcome) {
		for i := range out.changes {
			if c := &out.changes[i]; c.Source == "http" {
				c.Source, c.Origin.Source = "file", "file"
			}
		}
	}},
	"first-seen-forgotten": {out: func(_ *seeded, out *outcome) {
		for i := range out.changes {
			if c := &out.changes[i]; c.Op == api.UpdateOp {
				c.Origin.FirstSeen = c.Origin.FirstSeen.AddDate(0, 0, 1)
			}
		}
	}},
	"update-too-late": {out: func(s *seeded, out *outcome) {
		before := s.late
		s.late = nil
		if i := slices.IndexFunc(out.changes, isOp(api.UpdateOp)); i >= 0 {
			s.late = []api.Change{out.changes[i]}
			out.changes = slices.Delete(out.changes, i, i+1)
		}
		out.changes = append(before, out.changes...)
	}},

	"gone-of-difference-lost": {in: func(_ *seeded, d *delivery) {
		if n := len(d.gone); !d.snapshot && n > 0 {
			d.gone = d.gone[:n-1]
		}
	}},
	"last-document-dropped": {in: func(_ *seeded, d *delivery) {
		if n := len(d.docs); n > 1 {
			d.docs = d.docs[:n-1]
		}
	}},
	"difference-as-snapshot": {in: func(s *seeded, d *delivery) { d.snapshot = d.snapshot || s.seen[d.source] }},
}

func isOp(op api.Op) func(api.Change) bool { return func(c api.Change) bool { return c.Op == op } }

func replacedBy(add *api.Change) func(api.Change) bool {
	return func(c api.Change) bool { return c.Op == api.Remove && c.Replaces != "" && c.Replaces == add.New.UID }
}

func ignore(these func(api.Change) bool) func(*seeded, *outcome) {
	return func(_ *seeded, out *outcome) { out.changes = slices.DeleteFunc(out.changes, these) }
}

func ignoreOne(of func(api.Change) bool) func(*seeded, *outcome) {
	return func(_ *seeded, out *outcome) {
		if i := slices.IndexFunc(out.changes, of); i >= 0 {
			out.changes = slices.Delete(out.changes, i, i+1)
		}
	}
}

func rename(from, to api.Op) func(*seeded, *outcome) {
	return func(_ *seeded, out *outcome) {
		for i := range out.changes {
			if c := &out.changes[i]; c.Op == from {
				c.Op = to
			}
		}
	}
}

// swap puts all of the later operation before the earlier one.
func swap(out *outcome, earlier, later api.Op) {
	order := maps.Clone(rank)
	order[earlier], order[later] = rank[later], rank[earlier]
	slices.SortStableFunc(out.changes, func(a, b api.Change) int { return cmp.Compare(order[a.Op], order[b.Op]) })
}
