package server

import (
	"net/http"
	"net/url"

	"github.com/wardlet/wardlet/core/api"
)

// Events returns the newest events, newest last, and notifies of further ones.
type Events interface {
	List() []api.Event
	Changes
}

func (s *Server) serveEvents(o *Options) {
	s.mux.HandleFunc("GET /v1/events", func(w http.ResponseWriter, r *http.Request) {
		q := eventsOf(r.URL.Query())
		if !isWatch(r) {
			s.answer(w, "/v1/events", q.of(o.Events.List(), o.Node))
			return
		}
		watched := eventWatch{events: o.Events, query: q, node: o.Node}
		s.watch(w, r, o.Events, watched.next)
	})
}

// eventQuery narrows a list of events. Empty fields narrow nothing.
type eventQuery struct{ namespace, name string }

func eventsOf(v url.Values) eventQuery { return eventQuery{v.Get("namespace"), v.Get("name")} }

// of returns the events that match the query. node is the node's name, with which the names of pods
// from its own sources end.
func (q *eventQuery) of(all []api.Event, node string) []api.Event {
	some := []api.Event{}
	for i := range all {
		e := &all[i]
		if (q.namespace == "" || e.Namespace == q.namespace) &&
			(q.name == "" || e.Name == q.name || node != "" && e.Name == q.name+"-"+node) {
			some = append(some, *e)
		}
	}
	return some
}

// eventWatch records which events were sent to one client.
type eventWatch struct {
	events Events
	query  eventQuery
	node   string
	// begun is set once the list was sent. told is the newest event that was sent.
	begun bool
	told  uint64
}

// next returns the events since the last call. A repeated event is the same event, modified.
func (e *eventWatch) next() []api.WatchLine {
	var lines []api.WatchLine
	all := e.events.List()
	for _, x := range e.query.of(all, e.node) {
		switch {
		case e.begun && x.Seq <= e.told:
		case e.begun && x.FirstSeq <= e.told:
			lines = append(lines, api.WatchLine{Type: api.WatchModified, Object: x})
		default:
			lines = append(lines, api.WatchLine{Type: api.WatchAdded, Object: x})
		}
	}
	if len(all) > 0 {
		e.told = all[len(all)-1].Seq
	}
	e.begun = true
	return lines
}
