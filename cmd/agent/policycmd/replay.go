package policycmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) policyReplayCommand() *cobra.Command {
	var (
		f      recordsFlags
		o      replay.Options
		output string
	)
	cmd := &cobra.Command{
		Use:   "replay [ID...]",
		Short: "Make recorded decisions again, and prove that the results are the same",
		Long: "Makes the decisions again that a state directory or a bundle has on record, all or those that are\n" +
			"named, with nothing but what is on record: without an agent, and not with the policies in force.\n" +
			"It prints the first difference of each decision with another result, and how many results are the\n" +
			"same to the last bit: verdict, messages, fuel and fields read of every policy. A running agent is\n" +
			"not disturbed. The exit status is 1 if a result differs, a record is damaged or missing, or there\n" +
			"is none.",
		Example: "  wardlet policy replay\n" +
			"  wardlet policy replay operator-12 tenant-a-7 --interpreter\n" +
			"  wardlet policy replay --state /mnt/node7/var/lib/wardlet -o json\n" +
			"  wardlet policy replay --bundle decisions.zip",
		RunE: func(cmd *cobra.Command, ids []string) error {
			if err := wantsObject(cmd, output); err != nil {
				return err
			}
			from, err := f.open(a, cmd)
			if err != nil {
				return err
			}
			defer from.Close()
			o.IDs = ids
			return a.replay(cmd, from, output, o)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&o.Interpreter, "interpreter", false, "run the plugins on the interpreter instead of the compiler: slower, and the same")
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml (default: lines to read)")
	return cmd
}

// replayReport is the result of making recorded decisions again.
type replayReport struct {
	Decisions int `json:"decisions"`
	Same      int `json:"same"`
	Different int `json:"different"`
	// Lost decisions cannot be made again. NotJudged decisions were not made by a policy.
	Lost      int `json:"lost"`
	NotJudged int `json:"notJudged"`
	// Findings are the decisions that are different or lost.
	Findings []*replay.Replayed `json:"findings"`
	// Damaged lists the damaged places in the records.
	Damaged []string `json:"damaged"`
	// Missing are the IDs that were named and are not on record.
	Missing []string `json:"missing"`
}

func (a *app) replay(cmd *cobra.Command, from *recorded, output string, o replay.Options) error {
	r := &replayReport{Findings: []*replay.Replayed{}, Damaged: []string{}}
	found := map[string]bool{}
	damaged, err := replay.Decisions(cmd.Context(), from.cfg, from, o, func(x *replay.Replayed) {
		found[x.ID] = true
		r.take(x)
		if output == "" {
			a.printReplayed(x)
		}
	})
	if err != nil {
		return fmt.Errorf("%s: %w", from.name, err)
	}
	for _, fault := range damaged {
		r.Damaged = append(r.Damaged, fault.Error())
	}
	r.Missing = notFound(o.IDs, found)
	if output == "" {
		a.printDamaged(r.Damaged)
		fmt.Fprintln(a.Out, r.words())
	} else if err := cli.PrintObject(a.Out, output, r); err != nil {
		return err
	}
	return r.err()
}

// printReplayed prints a decision that is different or lost.
func (a *app) printReplayed(x *replay.Replayed) {
	what := fmt.Sprintf("%s %s %s/%s: ", x.ID, x.Hook, x.Namespace, x.Name)
	switch x.Outcome {
	case replay.ReplayDifferent:
		fmt.Fprintln(a.Out, printable.Line(what+x.Difference.String()))
	case replay.ReplayLost:
		fmt.Fprintln(a.Out, printable.Line(what+"cannot be made again: "+x.Error))
	}
}

func (r *replayReport) take(x *replay.Replayed) {
	r.Decisions++
	switch x.Outcome {
	case replay.ReplaySame:
		r.Same++
	case replay.ReplayNotJudged:
		r.NotJudged++
	case replay.ReplayDifferent:
		r.Different++
		r.Findings = append(r.Findings, x)
	default:
		r.Lost++
		r.Findings = append(r.Findings, x)
	}
}

// words describes the result in numbers.
func (r *replayReport) words() string {
	text := fmt.Sprintf("%s made again: %d the same", cli.Plural(r.Decisions, "decision", "decisions"), r.Same)
	if r.NotJudged > 0 {
		text += fmt.Sprintf(", %d that no policy was asked about", r.NotJudged)
	}
	return text
}

// err returns the faults found, nil for none.
func (r *replayReport) err() error {
	var faults faultList
	faults.add(r.Different, "decision comes out otherwise", "decisions come out otherwise")
	faults.add(r.Lost, "decision cannot be made again", "decisions cannot be made again")
	faults.damaged(r.Damaged)
	faults.missing(r.Missing)
	if r.Decisions == 0 && len(r.Missing) == 0 {
		faults = append(faults, noRecord)
	}
	return faults.err()
}
