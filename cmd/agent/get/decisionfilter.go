package get

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
)

// decisionFilter has the flags that narrow a list of decisions.
type decisionFilter struct {
	namespace, policy, hook, answer, tenant string

	all   bool
	since time.Duration
	limit int
	// tenants is true if --tenant is set, even if its value stands for the operator.
	tenants bool
}

func (f *decisionFilter) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.namespace, "namespace", "n", "", "only decisions on pods of this namespace")
	flags.BoolVarP(&f.all, "all-namespaces", "A", false, "decisions on pods of all namespaces, as without --namespace")
	flags.StringVar(&f.policy, "policy", "", "only decisions in which this policy had an opinion")
	flags.StringVar(&f.hook, "hook", "", "only those of this hook: admit, merge, filter or connect")
	flags.StringVar(&f.answer, "answer", "", "only those with this answer, as in the column VERDICT")
	flags.StringVar(&f.tenant, "tenant", "", "only decisions on pods of this tenant; operator for those of none")
	flags.DurationVar(&f.since, "since", 0, "only decisions that were made, or repeated, within this time: 30m, 24h")
	flags.IntVar(&f.limit, "limit", 0, "only so many, the newest (default: all)")
}

// answers are the possible answers of a recorded verdict.
var answers = []string{
	string(api.Allow), string(api.Hold), string(api.Deny), string(api.Pass), string(api.Defer), string(api.Drop),
	string(api.ChooseWinner), string(api.ChooseCurrent), string(api.ChooseNone), string(api.NoChoice),
}

// take checks the flags and arguments, and returns the names of pods.
func (f *decisionFilter) take(cmd *cobra.Command, args []string) (names []string, err error) {
	if f.all {
		f.namespace = ""
	}
	f.tenants = cmd.Flags().Changed("tenant")
	switch {
	case f.hook != "" && !slices.Contains(cli.Hooks, f.hook):
		return nil, fmt.Errorf("unknown hook %q; want admit, merge, filter or connect", f.hook)
	case f.answer != "" && !slices.Contains(answers, f.answer):
		return nil, fmt.Errorf("unknown answer %q; want %s", f.answer, strings.Join(answers, ", "))
	case f.since < 0:
		return nil, fmt.Errorf("--since %s lies ahead; want how long ago, for example 1h", f.since)
	case f.limit < 0:
		return nil, fmt.Errorf("--limit %d: want how many decisions to show", f.limit)
	}
	for _, arg := range args {
		in, name, slash := strings.Cut(arg, "/")
		switch {
		case !slash:
			names = append(names, arg)
			continue
		case in == "" || name == "" || strings.Contains(name, "/"):
			return nil, fmt.Errorf("%q is no pod; name it as NAME or NAMESPACE/NAME", arg)
		case f.namespace != "" && f.namespace != in:
			return nil, errors.New("the namespace of the pod and --namespace differ")
		}
		names = append(names, arg)
	}
	return names, nil
}

// decisionPath is the path of a request to the agent, and the name that the request is about.
type decisionPath struct{ path, name string }

// paths returns the requests to the agent: one for each name.
func (f *decisionFilter) paths(names []string, now time.Time) []decisionPath {
	if len(names) == 0 {
		return []decisionPath{{f.path(f.namespace, "", now), ""}}
	}
	all := make([]decisionPath, len(names))
	for i, arg := range names {
		in, name, slash := strings.Cut(arg, "/")
		if !slash {
			in, name = f.namespace, arg
		}
		all[i] = decisionPath{f.path(in, name, now), arg}
	}
	return all
}

func (f *decisionFilter) path(namespace, name string, now time.Time) string {
	query := url.Values{}
	add := func(key, value string) {
		if value != "" {
			query.Set(key, value)
		}
	}
	add("namespace", namespace)
	add("name", name)
	add("policy", f.policy)
	add("hook", f.hook)
	add("answer", f.answer)
	if f.tenants {
		query.Set("tenant", "")
		if f.tenant != config.OperatorName {
			query.Set("tenant", f.tenant)
		}
	}
	if f.since > 0 {
		query.Set("since", now.Add(-f.since).UTC().Format(time.RFC3339Nano))
	}
	if f.limit > 0 {
		query.Set("limit", strconv.Itoa(f.limit))
	}
	if len(query) == 0 {
		return "/v1/decisions"
	}
	return "/v1/decisions?" + query.Encode()
}
