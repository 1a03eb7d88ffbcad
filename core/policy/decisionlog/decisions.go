package decisionlog

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/wardlet/wardlet/core/api"
)

const (
	// maxDecisions is how many decisions are shown.
	maxDecisions = 1000
	// maxDecisionText is how many bytes of text by plugins are shown: if plugins write
	// much, fewer decisions are shown.
	maxDecisionText = 4 << 20
)

// Decisions are the newest decisions. If there are too many, the owner of pods with most
// decisions loses its oldest one, so that the decisions of a tenant only replace its own.
// It is safe for concurrent use.
type Decisions struct {
	mu     sync.Mutex
	known  map[decisionKey]*list.Element
	owners map[string]*tenantDecisions
	count  int
	text   int
}

// tenantDecisions are the decisions about the pods of one owner. list contains
// *shownDecision, newest last.
type tenantDecisions struct {
	list list.List
	text int
}

type shownDecision struct {
	key decisionKey
	api.Decision
}

// decisionKey is equal for equal verdicts on equal inputs. It is zero for a decision that
// is equal to no other.
type decisionKey [sha256.Size]byte

// KeyOf returns the key of a decision. inputs are the digests of what the decision saw. If
// they are not known, there are none, and the instance stands for them.
func KeyOf(d *api.Decision, inputs ...string) (key decisionKey) {
	if d.Instance == "" && len(inputs) == 0 {
		return decisionKey{}
	}
	text := make([]byte, 0, 1<<10)
	add := func(parts ...string) {
		for _, s := range parts {
			text = append(binary.AppendUvarint(text, uint64(len(s))), s...)
		}
	}
	v := &d.Verdict
	add(d.Hook, string(d.Op), d.Namespace, d.Name, string(d.UID), d.Instance, string(d.Replaces), d.Source, d.Document, d.Tenant)
	add(string(v.Answer), v.Reason, v.Policy, v.Tenant, v.Mutation.Hash())
	switch v.Answer {
	case api.Hold, api.Answer(api.Defer), api.Answer(api.Drop):
		// Such a decision has no effect and is made again and again; another message does
		// not make it another decision.
	default:
		add(v.Message)
	}
	add(v.Sets...)
	add("")
	for i := range v.Opinions {
		o := &v.Opinions[i]
		add(o.Policy, o.Tenant, o.Mode, string(o.Answer), o.Failure, o.Reason)
	}
	add("")
	add(inputs...)
	return sha256.Sum256(text)
}

// has returns the shown decision of a key.
func (d *Decisions) has(key decisionKey) (api.Decision, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.known[key]
	if !ok {
		return api.Decision{}, false
	}
	return shownAt(e).Decision, true
}

// add adds a decision and returns it as it is shown now. If an equal decision is shown, the
// new one replaces it, adds its count and, without an ID, keeps its ID.
func (d *Decisions) add(n api.Decision, key decisionKey) api.Decision {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.owners == nil {
		d.known, d.owners = map[decisionKey]*list.Element{}, map[string]*tenantDecisions{}
	}
	if e, ok := d.known[key]; ok {
		old := shownAt(e)
		n.First, n.Count = old.First, old.Count+n.Count
		if n.ID == "" && n.NotKept == "" {
			n.ID, n.NotKept = old.ID, old.NotKept
		}
		d.remove(e)
	}
	o := d.owners[n.Tenant]
	if o == nil {
		o = &tenantDecisions{}
		d.owners[n.Tenant] = o
	}
	e := o.list.PushBack(&shownDecision{key, n})
	if key != (decisionKey{}) {
		d.known[key] = e
	}
	d.size(o, textOf(&n.Verdict), 1)
	for d.count > maxDecisions || d.text > maxDecisionText && d.count > 1 {
		d.remove(d.most(d.count > maxDecisions).list.Front())
	}
	return n
}

// most returns the owner that has most decisions, or most text.
func (d *Decisions) most(count bool) (most *tenantDecisions) {
	size := func(o *tenantDecisions) int {
		if count {
			return o.list.Len()
		}
		return o.text
	}
	for _, o := range d.owners {
		if most == nil || size(o) > size(most) {
			most = o
		}
	}
	return most
}

func (d *Decisions) remove(e *list.Element) {
	s := shownAt(e)
	o := d.owners[s.Tenant]
	o.list.Remove(e)
	d.size(o, -textOf(&s.Verdict), -1)
	if o.list.Len() == 0 {
		delete(d.owners, s.Tenant)
	}
	if d.known[s.key] == e {
		delete(d.known, s.key)
	}
}

func (d *Decisions) size(o *tenantDecisions, text, count int) {
	o.text += text
	d.text += text
	d.count += count
}

func shownAt(e *list.Element) *shownDecision { return e.Value.(*shownDecision) } // nothing else is in the lists

// Newest returns a copy of the decisions, newest last.
func (d *Decisions) Newest() []api.Decision {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]api.Decision, 0, d.count)
	for _, o := range d.owners {
		for e := o.list.Front(); e != nil; e = e.Next() {
			all = append(all, shownAt(e).Decision)
		}
	}
	slices.SortStableFunc(all, func(a, b api.Decision) int { return a.Last.Compare(b.Last) })
	return all
}

// textOf returns the length of the texts that plugins wrote into a verdict.
func textOf(v *api.Verdict) int {
	n := len(v.Message)
	for i := range v.Opinions {
		o := &v.Opinions[i]
		n += len(o.Message) + len(o.Explanation) + len(o.Patch)
		for _, w := range o.Warnings {
			n += len(w)
		}
		for key, value := range o.Annotations {
			n += len(key) + len(value)
		}
	}
	return n
}
