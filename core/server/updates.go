package server

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/wardlet/wardlet/core/api"
)

// Updates returns the updates that filters hold back, and releases them.
type Updates interface {
	Suppressed() []api.WaitingUpdate
	// Release releases the updates of a pod now and returns them. It returns an error if there are
	// none.
	Release(ctx context.Context, namespace, name string) ([]api.WaitingUpdate, error)
}

func (s *Server) serveUpdates(updates Updates, waiting Waiting) {
	s.get("/v1/updates", func(*http.Request) any { return updateList(updates, waiting) })
	s.mux.HandleFunc("POST /v1/release", func(w http.ResponseWriter, r *http.Request) {
		namespace, name := r.FormValue("namespace"), r.FormValue("name")
		switch {
		case updates == nil:
			refuse(w, http.StatusConflict, "this agent holds no updates back")
			return
		case namespace == "" || name == "":
			refuse(w, http.StatusBadRequest, "name the pod: /v1/release?namespace=NAMESPACE&name=NAME")
			return
		}
		released, err := updates.Release(r.Context(), namespace, name)
		if err != nil {
			refuse(w, http.StatusConflict, err.Error())
			return
		}
		s.log.Info("updates were released", "pod", namespace+"/"+name, "updates", len(released))
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(listed(released)) // a client that left needs no answer
	})
}

// updateList returns the updates that wait for policy or for a filter, ordered by namespace and
// name.
func updateList(updates Updates, waiting Waiting) []api.WaitingUpdate {
	all := []api.WaitingUpdate{}
	var waits []api.Waiting
	if waiting != nil {
		waits = waiting.List()
	}
	if updates != nil {
		all = append(all, suppressed(updates, waits)...)
	}
	for i := range waits {
		if w := &waits[i]; w.Running != nil && !w.Suppressed {
			all = append(all, unadmitted(w))
		}
	}
	slices.SortStableFunc(all, func(a, b api.WaitingUpdate) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	return all
}

// suppressed returns the updates that filters hold back. For those without an answer, it adds what
// the answer waits for.
func suppressed(updates Updates, waits []api.Waiting) []api.WaitingUpdate {
	all := slices.Clone(updates.Suppressed())
	for i := range all {
		u := &all[i]
		at := slices.IndexFunc(waits, func(w api.Waiting) bool {
			return w.Asked != nil && w.Suppressed && w.Pod.UID == u.UID && w.Origin.Source == u.Source && w.Origin.Document == u.Document
		})
		if u.Wait == api.WaitAsked && at >= 0 {
			u.Policy, u.Message = waits[at].Asked.Policy, waits[at].Asked.String()
		}
	}
	return all
}

// unadmitted returns the update for a version of a running pod that policy does not admit, or has
// not judged yet.
func unadmitted(w *api.Waiting) api.WaitingUpdate {
	u := api.WaitingUpdate{
		Namespace: w.Pod.Namespace, Name: w.Pod.Name, UID: w.Pod.UID, Op: api.UpdateOp, Wait: api.WaitHeld,
		Policy: w.Verdict.Policy, Reason: w.Verdict.Reason, Message: w.Verdict.Message,
		Since: w.Origin.FirstSeen, Again: w.RetryAt,
		Source: w.Origin.Source, Document: w.Origin.Document, Version: w.Origin.Version,
	}
	switch {
	case w.Verdict.Answer == api.Deny:
		u.Wait = api.WaitDenied
	case w.Verdict.Answer == "" && w.Asked != nil:
		u.Wait, u.Policy, u.Message = api.WaitUnjudged, w.Asked.Policy, w.Asked.String()
	}
	if w.Running.UID != w.Pod.UID {
		u.Replaces = w.Running.UID
	}
	return u
}
