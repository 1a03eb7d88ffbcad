package server

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// decisionQuery narrows a list of decisions. Empty fields narrow nothing.
type decisionQuery struct {
	namespace, name, hook, answer string
	// policy is a policy that must have an opinion in the decision. tenant is the owner of the pod; it
	// is only used if tenants is set.
	policy  string
	tenant  string
	tenants bool
	// since excludes decisions before it. limit is the maximum number of decisions, the newest ones.
	since time.Time
	limit int
}

// queryOf parses a query. The error says what is invalid.
func queryOf(v url.Values) (q decisionQuery, err error) {
	q = decisionQuery{
		namespace: v.Get("namespace"), name: v.Get("name"), hook: v.Get("hook"), answer: v.Get("answer"),
		policy: v.Get("policy"), tenant: v.Get("tenant"), tenants: v.Has("tenant"),
	}
	if text := v.Get("since"); text != "" {
		if q.since, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return q, fmt.Errorf("since=%q is no time; write it as 2006-01-02T15:04:05Z", text)
		}
	}
	if text := v.Get("limit"); text != "" {
		if q.limit, err = strconv.Atoi(text); err != nil || q.limit < 0 {
			return q, fmt.Errorf("limit=%q is no number of decisions", text)
		}
	}
	return q, nil
}

// of returns the decisions that match the query. all is ordered, newest last. node is the node's
// name, with which the names of pods from its own sources end.
func (q *decisionQuery) of(all []api.Decision, node string) []api.Decision {
	some := []api.Decision{}
	for i := range all {
		if q.wants(&all[i], node) {
			some = append(some, all[i])
		}
	}
	if q.limit > 0 {
		some = some[max(0, len(some)-q.limit):]
	}
	return some
}

func (q *decisionQuery) wants(d *api.Decision, node string) bool {
	v := &d.Verdict
	return (q.namespace == "" || d.Namespace == q.namespace) &&
		(q.name == "" || d.Name == q.name || node != "" && d.Name == q.name+"-"+node) &&
		(q.hook == "" || d.Hook == q.hook) &&
		(q.answer == "" || string(v.Answer) == q.answer) &&
		(q.policy == "" || v.Policy == q.policy || slices.ContainsFunc(v.Opinions, func(o api.Opinion) bool { return o.Policy == q.policy })) &&
		(!q.tenants || d.Tenant == q.tenant) &&
		!d.Last.Before(q.since)
}
