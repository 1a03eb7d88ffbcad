package mux

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

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
	restored map[types.UID]pod.Change
	late     []pod.Change
}

// seededFault is one way to be wrong: with what comes in, or with what goes out.
type seededFault struct {
	in  func(*seeded, *delivery)
	out func(*seeded, *outcome)
	// verdict is wrong with what the gate says.
	verdict func(*pod.Verdict)
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
		s.seen, s.restored = map[string]bool{}, map[types.UID]pod.Change{}
	}
	for _, c := range out.changes {
		if c.Op == pod.Restore {
			s.restored[c.New.UID] = c
		} else {
			delete(s.restored, c.Pod().UID)
		}
	}
	s.seen[s.source] = s.seen[s.source] || s.snapshot
}

func (s *seeded) verdict(v pod.Verdict) pod.Verdict {
	if f := onVerdicts.Fault().verdict; f != nil {
		f(&v)
	}
	return v
}

var verdictFaults = map[string]seededFault{
	"held-version-passes":   {verdict: func(v *pod.Verdict) { takeFor(v, pod.Hold, pod.Allow) }},
	"denied-version-passes": {verdict: func(v *pod.Verdict) { takeFor(v, pod.Deny, pod.Allow) }},
	"held-is-denied":        {verdict: func(v *pod.Verdict) { takeFor(v, pod.Hold, pod.Deny) }},
}

func takeFor(v *pod.Verdict, is, as pod.Answer) {
	if v.Answer == is {
		v.Answer = as
	}
}

var faults = map[string]seededFault{
	"remove-after-add": {out: func(_ *seeded, out *outcome) { swap(out, pod.Remove, pod.Add) }},
	"reconcile-first":  {out: func(_ *seeded, out *outcome) { swap(out, pod.Add, pod.Reconcile) }},

	"annotation-change-ignored": {out: ignore(func(c pod.Change) bool { return c.Changed == pod.FieldAnnotations })},
	"label-change-ignored":      {out: ignore(func(c pod.Change) bool { return c.Changed == pod.FieldLabels })},
	"grace-change-ignored": {out: ignore(func(c pod.Change) bool {
		return c.Changed == pod.FieldDeletionGracePeriod && c.Old.DeletionTimestamp != nil
	})},
	"reconcile-dropped": {out: ignore(isOp(pod.Reconcile))},
	"delete-dropped":    {out: ignore(isOp(pod.Delete))},
	"restore-dropped":   {out: ignoreOne(isOp(pod.Restore))},
	"removal-of-snapshot-lost": {out: func(s *seeded, out *outcome) {
		if s.snapshot {
			ignoreOne(isOp(pod.Remove))(s, out)
		}
	}},

	"delete-as-update":    {out: rename(pod.Delete, pod.UpdateOp)},
	"update-as-reconcile": {out: rename(pod.UpdateOp, pod.Reconcile)},
	"reconcile-as-update": {out: rename(pod.Reconcile, pod.UpdateOp)},

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
		if i := slices.IndexFunc(out.changes, isOp(pod.Add)); i >= 0 {
			out.changes = slices.Insert(out.changes, i, out.changes[i])
		}
	}},
	"add-after-restore": {out: func(s *seeded, out *outcome) {
		for uid, c := range s.restored {
			if s.named[uid] && c.Source == s.source {
				c.Op = pod.Add
				out.changes = append(out.changes, c)
				delete(s.restored, uid)
			}
		}
		slices.SortStableFunc(out.changes, func(a, b pod.Change) int { return cmp.Compare(rank[a.Op], rank[b.Op]) })
	}},
	"old-pod-handed-on": {out: func(_ *seeded, out *outcome) {
		for i := range out.changes {
			if c := &out.changes[i]; c.Op == pod.UpdateOp {
				c.New = c.Old
			}
		}
	}},
	"replacement-as-update": {out: func(_ *seeded, out *outcome) {
		for i := range out.changes {
			c := &out.changes[i]
			if c.Op != pod.Add {
				continue
			}
			if j := slices.IndexFunc(out.changes, replacedBy(c)); j >= 0 {
				c.Op, c.Old, c.Replaces = pod.UpdateOp, out.changes[j].Old, ""
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
			if c := &out.changes[i]; c.Op == pod.UpdateOp {
				c.Origin.FirstSeen = c.Origin.FirstSeen.AddDate(0, 0, 1)
			}
		}
	}},
	"update-too-late": {out: func(s *seeded, out *outcome) {
		before := s.late
		s.late = nil
		if i := slices.IndexFunc(out.changes, isOp(pod.UpdateOp)); i >= 0 {
			s.late = []pod.Change{out.changes[i]}
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

func isOp(op pod.Op) func(pod.Change) bool { return func(c pod.Change) bool { return c.Op == op } }

func replacedBy(add *pod.Change) func(pod.Change) bool {
	return func(c pod.Change) bool { return c.Op == pod.Remove && c.Replaces != "" && c.Replaces == add.New.UID }
}

func ignore(these func(pod.Change) bool) func(*seeded, *outcome) {
	return func(_ *seeded, out *outcome) { out.changes = slices.DeleteFunc(out.changes, these) }
}

func ignoreOne(of func(pod.Change) bool) func(*seeded, *outcome) {
	return func(_ *seeded, out *outcome) {
		if i := slices.IndexFunc(out.changes, of); i >= 0 {
			out.changes = slices.Delete(out.changes, i, i+1)
		}
	}
}

func rename(from, to pod.Op) func(*seeded, *outcome) {
	return func(_ *seeded, out *outcome) {
		for i := range out.changes {
			if c := &out.changes[i]; c.Op == from {
				c.Op = to
			}
		}
	}
}

// swap puts all of the later operation before the earlier one.
func swap(out *outcome, earlier, later pod.Op) {
	order := maps.Clone(rank)
	order[earlier], order[later] = rank[later], rank[earlier]
	slices.SortStableFunc(out.changes, func(a, b pod.Change) int { return cmp.Compare(order[a.Op], order[b.Op]) })
}
