package policycmd

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/author"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) policyDiffCommand() *cobra.Command {
	var (
		f      recordsFlags
		o      replay.DiffOptions
		output string
	)
	cmd := &cobra.Command{
		Use:   "diff DIR",
		Short: "Make recorded decisions with other policies, and show which would change",
		Long: "Makes recorded decisions with the policies of a directory instead of those of the operator, or\n" +
			"with --tenant instead of a tenant's, and prints the verdicts that would change: grouped by the old\n" +
			"and the new answer, with an example of each. Answers of other owners' policies stay. The directory\n" +
			"is loaded as the agent would load it, including its tests, but without asking for a signature.\n" +
			"Pods that no policy was asked about are not on record. As with kubectl diff, the exit status is 1\n" +
			"if there are differences, and if nothing could be compared.",
		Example: "  wardlet policy diff ./policies\n" +
			"  wardlet policy diff ./policies --tenant a --bundle decisions.zip -o json",
		Args: oneDirectory,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wantsObject(cmd, output); err != nil {
				return err
			}
			from, err := f.open(a, cmd)
			if err != nil {
				return err
			}
			defer from.Close()
			o.Dir = args[0]
			return a.diff(cmd, from, output, o)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&o.Tenant, "tenant", "", "compare with the policies of this tenant (default: with the operator's)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml (default: a table)")
	return cmd
}

// diffReport is the result of making decisions with other policies.
type diffReport struct {
	// Decisions is the sum of the next four fields. An unseen decision needs data that is not on
	// record. A lost decision cannot be made.
	Decisions int `json:"decisions"`
	Same      int `json:"same"`
	Changed   int `json:"changed"`
	Unseen    int `json:"unseen"`
	Lost      int `json:"lost"`
	// NotJudged are decisions that no policy made. NotConcerned are about pods of other owners.
	NotJudged    int `json:"notJudged"`
	NotConcerned int `json:"notConcerned"`
	// Groups are the changed decisions, the largest group first.
	Groups []*diffGroup `json:"groups"`
	// Findings are the lost decisions.
	Findings []replay.Replayed `json:"findings"`
	// Damaged lists the damaged places in the records.
	Damaged []string `json:"damaged"`
}

// diffGroup are decisions that change in the same way.
type diffGroup struct {
	Count int         `json:"count"`
	Hook  string      `json:"hook"`
	Was   diffVerdict `json:"was"`
	Would diffVerdict `json:"would"`
	// Example is the newest of them.
	Example diffExample `json:"example"`
}

// diffVerdict has the parts of a verdict that are equal in a group.
type diffVerdict struct {
	// Answer names the winner if the decision is about a contest.
	Answer api.Answer `json:"answer"`
	Policy string     `json:"policy,omitempty"`
	Tenant string     `json:"tenant,omitempty"`
	Reason string     `json:"reason,omitempty"`
	// Changes are the changes that policies make to the pod.
	Changes []pod.Mutator `json:"changes,omitempty"`
}

type diffExample struct {
	ID           string `json:"id"`
	Namespace    string `json:"namespace"`
	Name         string `json:"name"`
	WasMessage   string `json:"wasMessage,omitempty"`
	WouldMessage string `json:"wouldMessage,omitempty"`
	// Field is the first field that differs; Was and Would are its values.
	Field string `json:"field"`
	Was   string `json:"was,omitempty"`
	Would string `json:"would,omitempty"`
}

func (a *app) diff(cmd *cobra.Command, from *recorded, output string, o replay.DiffOptions) error {
	r := &diffReport{Groups: []*diffGroup{}, Findings: []replay.Replayed{}, Damaged: []string{}}
	damaged, err := replay.DiffDecisions(cmd.Context(), from.cfg, from, o, r.take)
	if errors.Is(err, replay.ErrRefused) {
		return refusal(err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", from.name, err)
	}
	for _, fault := range damaged {
		r.Damaged = append(r.Damaged, fault.Error())
	}
	slices.SortStableFunc(r.Groups, func(x, y *diffGroup) int { return cmp.Compare(y.Count, x.Count) })
	if output == "" {
		a.printDiff(r)
	} else if err := cli.PrintObject(a.Out, output, r); err != nil {
		return err
	}
	var faults faultList
	if r.Same+r.Changed+r.Lost == 0 {
		faults = append(faults, "no decision on record could be compared")
	}
	faults.add(r.Changed, "verdict would change", "verdicts would change")
	faults.add(r.Lost, "decision cannot be made", "decisions cannot be made")
	faults.add(len(r.Damaged), "place of the records is damaged", "places of the records are damaged")
	return faults.err()
}

func (r *diffReport) take(x *replay.Differing) {
	switch x.Outcome {
	case replay.ReplayNotJudged:
		r.NotJudged++
		return
	case replay.DiffNotConcerned:
		r.NotConcerned++
		return
	case replay.DiffUnseen:
		r.Unseen++
	case replay.ReplayLost:
		r.Lost++
		r.Findings = append(r.Findings, x.Replayed)
	case replay.DiffChanged:
		r.Changed++
		r.group(x)
	default:
		r.Same++
	}
	r.Decisions++
}

// group adds a decision to the group of decisions that change in the same way.
func (r *diffReport) group(x *replay.Differing) {
	was, would := diffVerdictOf(x.Hook, x.Recorded), diffVerdictOf(x.Hook, x.Made)
	i := slices.IndexFunc(r.Groups, func(g *diffGroup) bool { return g.Hook == x.Hook && g.Was.same(&was) && g.Would.same(&would) })
	if i < 0 {
		i = len(r.Groups)
		r.Groups = append(r.Groups, &diffGroup{Hook: x.Hook, Was: was, Would: would})
	}
	r.Groups[i].Count++
	r.Groups[i].Example = diffExample{
		ID: x.ID, Namespace: x.Namespace, Name: x.Name, WasMessage: x.Recorded.Message, WouldMessage: x.Made.Message,
		Field: x.Difference.Field, Was: x.Difference.Recorded, Would: x.Difference.Made,
	}
}

func diffVerdictOf(hook string, v *api.Verdict) diffVerdict {
	x := diffVerdict{Answer: author.AnswerOf(hook, v), Reason: v.Reason}
	if v.Mutation != nil {
		x.Changes = v.Mutation.By
	}
	if v.Reason != "" {
		x.Policy, x.Tenant = v.Policy, v.Tenant
	}
	return x
}

func (v *diffVerdict) same(other *diffVerdict) bool { return reflect.DeepEqual(v, other) }

// String formats the verdict in one line.
func (v *diffVerdict) String() string {
	text := string(v.Answer)
	if v.Policy != "" {
		text += " by " + v.Policy
		if v.Tenant != "" {
			text += " of " + v.Tenant
		}
	}
	if v.Reason != "" {
		text += " (" + v.Reason + ")"
	}
	if len(v.Changes) > 0 {
		text += "; " + (&pod.Mutation{By: v.Changes}).String()
	}
	return text
}

func (a *app) printDiff(r *diffReport) {
	for _, x := range r.Findings {
		fmt.Fprintln(a.Out, printable.Line(fmt.Sprintf("%s %s %s/%s: cannot be made: %s", x.ID, x.Hook, x.Namespace, x.Name, x.Error)))
	}
	a.printDamaged(r.Damaged)
	for _, g := range r.Groups {
		fmt.Fprintln(a.Out, printable.Line(fmt.Sprintf("%s: %s -> %s", cli.Plural(g.Count, g.Hook+" decision", g.Hook+" decisions"), g.Was.String(), g.Would.String())))
		e := &g.Example
		fmt.Fprintln(a.Out, printable.Line(fmt.Sprintf("  for example %s, %s/%s", e.ID, e.Namespace, e.Name)))
		was, would := cmp.Or(e.WasMessage, string(g.Was.Answer)), cmp.Or(e.WouldMessage, string(g.Would.Answer))
		if e.Field == "mutation" {
			was, would = "mutation "+cmp.Or(e.Was, "none"), "mutation "+cmp.Or(e.Would, "none")
		}
		fmt.Fprintln(a.Out, printable.Line("    was:   "+was))
		fmt.Fprintln(a.Out, printable.Line("    would: "+would))
	}
	text := fmt.Sprintf("%s made with the other policies: %d the same, %d otherwise", cli.Plural(r.Decisions, "decision", "decisions"), r.Same, r.Changed)
	if r.Unseen > 0 {
		text += fmt.Sprintf(", %d that want to see what nobody has looked at", r.Unseen)
	}
	if n := r.NotJudged + r.NotConcerned; n > 0 {
		text += fmt.Sprintf("; %d were not made by such policies", n)
	}
	fmt.Fprintln(a.Out, text)
}
