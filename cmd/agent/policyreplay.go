package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/core/agent"
	"github.com/wardlet/wardlet/core/config"
)

func (a *app) policyReplayCommand() *cobra.Command {
	var (
		dir, output string
		o           agent.ReplayOptions
	)
	cmd := &cobra.Command{
		Use:   "replay [ID...]",
		Short: "Make decisions on record again, and prove that they come out the same",
		Long: "Makes the decisions again that a state directory has on record, all or those that are named,\n" +
			"with nothing but what is on record: not the policies in force, and without an agent. Prints the\n" +
			"first difference of each that comes out otherwise, and how many came out the same to the last\n" +
			"bit: verdict, messages, fuel and fields read of every policy. An agent that runs is not\n" +
			"disturbed. The exit status is 1 if any came out otherwise, or is damaged.",
		Example: "  wardlet policy replay\n" +
			"  wardlet policy replay operator-12 tenant-a-7 --interpreter\n" +
			"  wardlet policy replay --state /mnt/node7/var/lib/wardlet -o json",
		RunE: func(cmd *cobra.Command, ids []string) error {
			if output != "" && !isObjectFormat(output) {
				return &usageError{fmt.Errorf("unknown output %q; want json or yaml", output), cmd.CommandPath()}
			}
			cfg, err := a.replayConfig(cmd, &dir)
			if err != nil {
				return err
			}
			o.IDs = ids
			return a.replay(cmd, cfg, dir, output, o)
		},
	}
	cmd.Flags().StringVar(&dir, "state", "", "the state directory (default: paths.state_root of the configuration)")
	cmd.Flags().BoolVar(&o.Interpreter, "interpreter", false, "run the plugins on the interpreter instead of the compiler: slower, and the same")
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml (default: lines to read)")
	return cmd
}

// replayConfig is the configuration that is named, or the default one where a state
// directory is named instead.
func (a *app) replayConfig(cmd *cobra.Command, dir *string) (*config.Config, error) {
	if *dir != "" && !cmd.Flags().Changed("config") {
		return config.Default(), nil
	}
	cfg, err := config.Load(a.configPath)
	if err == nil && *dir == "" {
		*dir = cfg.Paths.StateRoot
	}
	return cfg, err
}

// replayReport is what came of making decisions again.
type replayReport struct {
	Decisions int `json:"decisions"`
	Same      int `json:"same"`
	Different int `json:"different"`
	// Lost cannot be made again; of NotJudged there is nothing to make again.
	Lost      int `json:"lost"`
	NotJudged int `json:"notJudged"`
	// Findings are those that are different or lost.
	Findings []*agent.Replayed `json:"findings"`
	// Damaged says where the records are not whole.
	Damaged []string `json:"damaged"`
}

func (a *app) replay(cmd *cobra.Command, cfg *config.Config, dir, output string, o agent.ReplayOptions) error {
	r := &replayReport{Findings: []*agent.Replayed{}, Damaged: []string{}}
	damaged, err := agent.ReplayDecisions(cmd.Context(), cfg, os.DirFS(dir), o, func(x *agent.Replayed) {
		r.take(x)
		if output == "" {
			a.printReplayed(x)
		}
	})
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	for _, fault := range damaged {
		r.Damaged = append(r.Damaged, fault.Error())
	}
	if output == "" {
		for _, fault := range r.Damaged {
			fmt.Fprintln(a.out, "damaged: "+printable(fault))
		}
		fmt.Fprintln(a.out, r.words())
	} else if err := printObject(a.out, output, r); err != nil {
		return err
	}
	return r.err(o.IDs)
}

// printReplayed prints what is not as it was.
func (a *app) printReplayed(x *agent.Replayed) {
	what := fmt.Sprintf("%s %s %s/%s: ", x.ID, x.Hook, x.Namespace, x.Name)
	switch x.Outcome {
	case agent.ReplayDifferent:
		fmt.Fprintln(a.out, printable(what+x.Difference.String()))
	case agent.ReplayLost:
		fmt.Fprintln(a.out, printable(what+"cannot be made again: "+x.Error))
	}
}

func (r *replayReport) take(x *agent.Replayed) {
	r.Decisions++
	switch x.Outcome {
	case agent.ReplaySame:
		r.Same++
	case agent.ReplayNotJudged:
		r.NotJudged++
	case agent.ReplayDifferent:
		r.Different++
		r.Findings = append(r.Findings, x)
	default:
		r.Lost++
		r.Findings = append(r.Findings, x)
	}
}

// words say how many came out how.
func (r *replayReport) words() string {
	text := fmt.Sprintf("%s made again: %d the same", plural(r.Decisions, "decision", "decisions"), r.Same)
	if r.NotJudged > 0 {
		text += fmt.Sprintf(", %d that no policy was asked about", r.NotJudged)
	}
	return text
}

// err is why not all is as it was.
func (r *replayReport) err(ids []string) error {
	var faults []string
	if r.Different > 0 {
		faults = append(faults, plural(r.Different, "decision comes", "decisions come")+" out otherwise")
	}
	if r.Lost > 0 {
		faults = append(faults, plural(r.Lost, "decision", "decisions")+" cannot be made again")
	}
	if n := len(r.Damaged); n > 0 {
		faults = append(faults, plural(n, "line of the records is", "lines of the records are")+" damaged")
	}
	if missing := len(ids) - r.Decisions; missing > 0 {
		faults = append(faults, plural(missing, "decision that was named is", "decisions that were named are")+" not on record")
	}
	if len(faults) == 0 {
		return nil
	}
	return errors.New(strings.Join(faults, ", "))
}
