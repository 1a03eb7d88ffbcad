package mux

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// state reports what the source holds and which of its documents cannot be used.
// running is Config.Running.
func (s *sourceStore) state(running func(types.UID) bool) api.SourceState {
	state := api.SourceState{
		Name: s.Name, Kind: s.Kind, Location: s.Location, Seen: s.seen, LastRead: s.lastRead,
		Documents: len(s.entries), Ignored: s.ignored,
	}
	if s.health != nil {
		state.Err = s.health.Error()
	}
	for _, e := range s.entries {
		if s.followsFromAnother(e) {
			state.Documents--
			continue
		}
		if s.keepsBy(e) { // counted with the documents that it keeps
			state.Documents--
		}
		if p, ok := s.problem(e, running); ok {
			state.Problems = append(state.Problems, p)
		}
	}
	state.Bad = len(state.Problems)
	slices.SortFunc(state.Problems, func(a, b api.Problem) int { return api.CompareDocuments(a.Document, b.Document) })
	return state
}

// followsFromAnother reports whether a document holds its manifest because of faults
// that other documents of it have. Those are the fault, and are counted.
func (s *sourceStore) followsFromAnother(e *entry) bool {
	path, holds := strings.CutSuffix(e.id, api.HoldSuffix)
	return holds && e.fault != nil && s.cause(path) != ""
}

// cause is the ID of the document on account of which a manifest is held: the last of
// those with a fault that do not say which pod they are, else the last with a fault.
// It is empty where the manifest as a whole is at fault.
func (s *sourceStore) cause(path string) (id string) {
	named := true
	for _, have := range s.manifests[path] {
		e := s.entries[have]
		if e.fault == nil || strings.HasSuffix(have, api.HoldSuffix) {
			continue
		}
		names := e.claims != (types.NamespacedName{})
		if id == "" || named && !names || named == names && api.CompareDocuments(have, id) > 0 {
			id, named = have, names
		}
	}
	return id
}

// keepsBy reports whether a document that holds its manifest keeps a pod.
func (s *sourceStore) keepsBy(e *entry) bool {
	path, held := strings.CutSuffix(e.id, api.HoldSuffix)
	return held && slices.ContainsFunc(s.manifests[path], func(id string) bool { return s.entries[id].pod != nil })
}

// problem says why the document as last read does not run.
func (s *sourceStore) problem(e *entry, running func(types.UID) bool) (api.Problem, bool) {
	p := api.Problem{Document: e.id, Since: e.firstSeen}
	identity := e.claims
	switch {
	case e.fault != nil:
		lines := e.fault.Lines()
		p.Message, p.Since = lines[0]+s.consequence(e), e.since
		if len(lines) > 1 {
			p.More = lines[1:]
		}
		p.Kept, p.Running = e.pod != nil || s.keepsBy(e), e.runs(running)
	case e.slot != nil && e.slot.first != e:
		p.Message = fmt.Sprintf("%s: %s is already defined by %s, which was first; remove or rename one of them",
			e.id, e.slot.identity, e.slot.first.id)
		identity = e.slot.identity
	case e.slot != nil && e.slot.clash != "":
		p.Message = e.id + ": " + e.slot.clash
		p.Kept = e.slot.sent != nil
		p.Running = p.Kept && running(e.slot.sent.pod.UID)
		identity = e.slot.identity
	default:
		return api.Problem{}, false
	}
	p.Namespace, p.Name = identity.Namespace, identity.Name
	return p, true
}

// consequence is what follows for the other pods of the manifest where the document is
// why that is held, as the end of a sentence. It is empty where nothing does.
func (s *sourceStore) consequence(e *entry) string {
	path, ok := api.ManifestOf(e.id)
	if !ok {
		return ""
	}
	hold := s.entries[path+api.HoldSuffix]
	if hold == nil || hold == e || hold.fault == nil || !s.keepsBy(hold) || s.cause(path) != e.id {
		return ""
	}
	return "; " + hold.fault.Err.Error()
}

// runs reports whether the last valid version of the document is what runs.
func (e *entry) runs(running func(types.UID) bool) bool {
	sl := e.slot
	return e.pod != nil && sl.first == e && sl.runs() && sl.wait == nil && sl.sent.pod.UID == e.pod.UID && running(e.pod.UID)
}
