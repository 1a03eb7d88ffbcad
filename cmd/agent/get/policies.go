package get

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) getPoliciesCommand() *cobra.Command {
	var flags getFlags
	cmd := &cobra.Command{
		Use:     "policies [NAME...]",
		Aliases: []string{"policy"},
		Short:   "Show the policies in force, and what is wrong with newer ones",
		Long: "Shows the policies in force in the order in which they are asked, and how often each has allowed,\n" +
			"denied and held since the agent started. For a filter ALLOWED counts updates that pass, and HELD\n" +
			"those that it drops or defers. For a merge policy ALLOWED counts winners, DENIED conflicts that it\n" +
			"rejects, and HELD those in which the running pod stays. FAILED counts failures of the plugin; each\n" +
			"is also counted as the answer that follows from it: for admission, as ON ERROR says. The lines\n" +
			"below say which set is in force and, if the directory holds another that cannot be used, why. The\n" +
			"wide table also has what a policy may change and see, and what happens to running pods that it\n" +
			"would not admit, with their number.",
		Example: "  wardlet get policies\n  wardlet get policies -o wide\n  wardlet get policy allowed-images -o yaml",
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			c, err := a.Client(cmd)
			if err != nil {
				return err
			}
			p := policyPrinter{wide: flags.output == cli.FormatWide, now: a.Now}
			g := getter{app: a, flags: flags, kind: "policy", kinds: "policies", columns: p.columns(), names: names}
			g.list = func(ctx context.Context) (listing, error) {
				var sets []api.PolicySet
				if err := c.Get(ctx, "/v1/policies", &sets); err != nil {
					return listing{}, err
				}
				return p.listing(sets), nil
			}
			return g.run(cmd.Context())
		},
	}
	flags.add(cmd)
	return cmd
}

// policyPrinter makes table rows and notes of policy sets.
type policyPrinter struct {
	wide bool
	now  func() time.Time
}

func (p policyPrinter) columns() []string {
	columns := []string{"NAME", "OWNER", "HOOKS", "MODE", "PRIORITY", "ON ERROR", "ALLOWED", "DENIED", "HELD", "FAILED"}
	if p.wide {
		columns = append(columns, "ON CHANGE", "VIOLATING", "MUTABLE PATHS", "CAPABILITIES", "MODULE", "SHA256")
	}
	return columns
}

func (p policyPrinter) listing(sets []api.PolicySet) listing {
	var l listing
	for i := range sets {
		set := &sets[i]
		if set.Directory == "" {
			continue
		}
		for j := range set.Policies {
			l.entries = append(l.entries, p.entry(set, &set.Policies[j]))
		}
		l.notes = append(l.notes, p.setNotes(set)...)
	}
	if len(l.notes) == 0 {
		l.empty = "No policies: every pod is admitted; set policy.dir in agent.toml."
	}
	return l
}

// shownPolicy is a policy together with its set, as json and yaml print it.
type shownPolicy struct {
	*api.PolicyState
	Set shownSet `json:"set"`
}

// shownSet is a policy set without its policies.
type shownSet struct {
	*api.PolicySet
	// Policies hides the field of the same name in the set.
	Policies any `json:"policies,omitempty"`
}

func (p policyPrinter) entry(set *api.PolicySet, s *api.PolicyState) entry {
	row := func(mode string) []string {
		hooks, module, priority, onError := strings.Join(s.Hooks, ","), s.Module, strconv.Itoa(s.Priority), s.OnError
		if s.Expression != "" {
			hooks, module, priority, onError = "group", s.Expression, cli.OrNone(""), cli.OrNone("")
		}
		cells := []string{s.Name, cli.OwnerOf(set), hooks, mode, priority, onError}
		for _, n := range []uint64{s.Allowed, s.Denied, s.Held, s.Failed} {
			cells = append(cells, strconv.FormatUint(n, 10))
		}
		if p.wide {
			cells = append(cells, s.OnChange, violating(s.Review), fewOf(s.MutablePaths), fewOf(s.Capabilities), module, cli.OrNone(cli.ShortDigest(s.SHA256)))
		}
		return cells
	}
	e := entry{
		key: set.Directory + "\x00" + s.Name + "\x00" + s.Document, name: s.Name,
		object: shownPolicy{s, shownSet{PolicySet: set}},
		cells:  row(s.Mode), stable: row(s.Mode), gone: row("Gone"),
	}
	if s.LastFailure != "" {
		e.notes = []note{lasting(fmt.Sprintf("%s: last failure: %s", s.Name, printable.Joined(s.LastFailure)))}
	}
	if len(s.Failures) > 0 {
		e.notes = append(e.notes, note{text: s.Name + ": failures: " + failuresInWords(s.Failures), stable: s.Name + ": failures"})
	}
	for i := range s.Breakers {
		b := &s.Breakers[i]
		about := fmt.Sprintf("%s: breaker open for pods of %s", s.Name, cmp.Or(b.Tenant, config.OperatorName))
		e.notes = append(e.notes, note{text: about + p.breakerInWords(set, b), stable: about})
	}
	if s.Shadow != nil {
		e.notes = append(e.notes, note{text: shadowInWords(set, s), stable: s.Name + ": candidate"})
	}
	if text := p.reviewInWords(set, s); text != "" {
		e.notes = append(e.notes, note{text: text, stable: s.Name + ": running pods"})
	}
	return e
}

// breakerInWords describes why a breaker is open, what follows from that and what to do.
func (p policyPrinter) breakerInWords(set *api.PolicySet, b *api.PolicyBreaker) string {
	return printable.Joined(fmt.Sprintf(": %d failures in a row, the last one %s, on %s; one of these is tried again in %s, and one other each second; %q asks about all now, until five fail again",
		b.Failed, b.Last, cli.Plural(b.Failing, "pod or conflict", "pods and conflicts"), max(b.Until.Sub(p.now()), 0).Round(time.Second), retryCommand(set.Tenant)))
}

// retryCommand returns the command that makes the agent ask an owner's plugins again.
func retryCommand(tenant string) string {
	if tenant == "" {
		return "wardlet policy retry"
	}
	return "wardlet policy retry --tenant " + tenant
}

// shadowInWords describes how a candidate compares with the policy in force.
func shadowInWords(set *api.PolicySet, s *api.PolicyState) string {
	x := s.Shadow
	text := fmt.Sprintf("%s: the candidate %s says something else in %d of %d decisions", s.Name, filepath.Base(s.Document), x.Different, x.Decisions)
	if x.Skipped > 0 {
		text += ", " + cli.Plural(int(x.Skipped), "was", "were") + " skipped"
	}
	if n := len(x.Differences); n > 0 {
		d := &x.Differences[n-1]
		text += fmt.Sprintf("; last %s of %s: %s instead of %s", d.Hook, d.About, saidInWords(d.Candidate, d.CandidateSaid), saidInWords(d.InForce, d.InForceSaid))
	}
	if x.Waits != "" {
		return printable.Joined(text + "; before it can be promoted: " + x.Waits)
	}
	if set.Revision > 0 {
		return printable.Joined(text + `; "wardlet policy promote ` + s.Name + ` --dir DIR" writes that into the copy that is to be signed`)
	}
	return printable.Joined(text + `; "wardlet policy promote ` + s.Name + `" puts it in force`)
}

func saidInWords(answer api.Answer, said string) string {
	if said == "" {
		return string(answer)
	}
	return fmt.Sprintf("%s (%s)", answer, said)
}

// violating returns the number of running pods that the policy would not admit.
func violating(r *api.PolicyReview) string {
	if r == nil {
		return cli.OrNone("")
	}
	return strconv.Itoa(r.Violating)
}

// reviewInWords describes how many running pods a policy would not admit, and what happens to these
// pods. It is empty if there are none.
func (p policyPrinter) reviewInWords(set *api.PolicySet, s *api.PolicyState) string {
	r := s.Review
	if r == nil || r.Violating == 0 && r.Evicted == 0 {
		return ""
	}
	name := s.Name
	if set.Tenant != "" {
		name = set.Tenant + "/" + s.Name
	}
	text := fmt.Sprintf("%s: would not admit %d of the %d running pods that it judges", name, r.Violating, r.Judged)
	if r.Evicted == 0 && r.Waiting == 0 {
		return text
	}
	text += "; " + cli.Evictions(r)
	if r.Waiting > 0 && r.Waits == "" && !r.Next.IsZero() {
		text += ", next in " + max(r.Next.Sub(p.now()), 0).Round(time.Second).String()
	}
	return text
}

// shownPaths is the maximum number of a policy's paths in a table.
const shownPaths = 3

// fewOf names the first elements of a list, and how many more there are.
func fewOf(list []string) string {
	text := strings.Join(list[:min(len(list), shownPaths)], ",")
	if more := len(list) - shownPaths; more > 0 {
		text += fmt.Sprintf(",+%d", more)
	}
	return cli.OrNone(printable.Line(text))
}

// failuresInWords lists the kinds of failures, the most frequent first.
func failuresInWords(failures map[string]uint64) string {
	codes := slices.SortedFunc(maps.Keys(failures), func(a, b string) int {
		return cmp.Or(cmp.Compare(failures[b], failures[a]), cmp.Compare(a, b))
	})
	for i, code := range codes {
		codes[i] = fmt.Sprintf("%s %d", printable.Line(code), failures[code])
	}
	return strings.Join(codes, ", ")
}

// setNotes returns notes that say which set is in force and, if the content of the
// directory is not in force, why.
func (p policyPrinter) setNotes(set *api.PolicySet) []note {
	var notes []note
	if set.Ready {
		from := "from " + set.Directory
		loaded := fmt.Sprintf("%s: set %s in force, generation %d, loaded ", cli.OwnerOf(set), cli.ShortDigest(set.Digest), set.Generation)
		notes = append(notes, note{text: loaded + p.ago(set.Loaded) + " " + from, stable: loaded + from})
	} else {
		state := "the policies of " + set.Directory + " are being loaded for the first time; new pods are held until then"
		if set.Refused != "" {
			state = "no set was loaded yet; new pods are held"
		}
		notes = append(notes, lasting(cli.OwnerOf(set)+": "+state+" ("+api.ReasonPoliciesNotReady+")"))
	}
	if t := set.Probation; t != nil {
		on := cli.OwnerOf(set) + ": on probation: " + strings.Join(t.Policies, ", ")
		text := fmt.Sprintf("%s; plugins failed in %d of %d decisions", on, t.Failed, t.Decisions)
		if t.Failing != "" {
			text += "; " + printable.Line(t.Failing)
		}
		notes = append(notes, note{text: text, stable: on})
	}
	if set.Refused == "" {
		return notes
	}
	since := cli.OwnerOf(set) + ": what the directory holds now is refused since " + set.RefusedAt.Format(time.RFC3339)
	notes = append(notes, note{text: since + " (" + p.ago(set.RefusedAt) + "):", stable: since})
	for reason := range strings.Lines(set.Refused) {
		notes = append(notes, lasting("  "+printable.Line(strings.TrimRight(reason, "\r\n"))))
	}
	return notes
}

func (p policyPrinter) ago(t time.Time) string {
	return cli.Age(p.now(), t) + " ago"
}
