package policycmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/policy/author"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/printable"
)

// runFlags are the flags of policy run.
type runFlags struct {
	pods, sources, kinds    []string
	old, hook, at, facts    string
	connection, references  string
	decision, state, output string
	question                author.Question
}

func (a *app) policyRunCommand() *cobra.Command {
	var o runFlags
	cmd := &cobra.Command{
		Use:   "run DOCUMENT {--pod FILE | --decision ID}",
		Short: "Ask one policy about one pod, or a recorded decision",
		Long: "Asks the policy of a document about the pod of a file, in the agent's own sandbox, and prints its\n" +
			"whole answer: answer, code, message, explanation, warnings, patch, the fields it read, the fuel it\n" +
			"used and the lines it logged. With --old the pod is a change of another one. For the hook merge\n" +
			"repeat --pod, --source and --kind for each candidate, in order; --old is the file of the running\n" +
			"one.\n\n" +
			"With --decision the question is that of a recorded decision: its documents, its time and the\n" +
			"recorded state of the node, without an agent. The policy is that of the document, whatever was in\n" +
			"force then. The policy may be off, and its sha256 missing. The exit status is 1 if the plugin\n" +
			"fails.",
		Example: "  wardlet policy run team-labels.toml --pod web.yaml\n" +
			"  wardlet policy run night-shift.toml --pod new.yaml --old web.yaml --time 2026-01-31T18:00:00Z\n" +
			"  wardlet policy run team-labels.toml --decision operator-12 --state /mnt/node7/var/lib/wardlet",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneDraft(cmd, args, o.output); err != nil {
				return err
			}
			if err := o.check(); err != nil {
				return cli.WrongUsage(cmd, err)
			}
			return a.runPolicy(cmd, args[0], &o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.pods, "pod", nil, "`FILE` with the pod, - for standard input; of the hook merge, with a candidate, several times")
	f.StringVar(&o.old, "old", "", "`FILE` with the pod as it was before; of the hook merge, with the candidate that runs")
	f.StringVar(&o.hook, "hook", "", "what is asked: admit, merge, filter or connect (default: the first of the policy)")
	f.StringVar(&o.at, "time", "", "`TIME` of the decision, as in 2026-01-31T18:00:00Z (default: that of tests)")
	f.StringArrayVar(&o.sources, "source", nil, "`NAME` of the pod's source (default: test)")
	f.StringArrayVar(&o.kinds, "kind", nil, "kind of the pod's source: file, http or api (default: file, or one that the policy matches)")
	f.StringVar(&o.facts, "node-facts", "", "`FILE` with labels, allocatable and pods of the node, in YAML, for policies with node.read")
	f.StringVar(&o.references, "references", "", "`FILE` with a list of kind, name, keys and digest of the objects that the pod names, in YAML, for policies with references.read (default: none exists)")
	f.StringVar(&o.connection, "connection", "", "`FILE` with kind, source, container, command, ports, user and groups of a connection, in YAML, for the hook connect (default: an exec of the first container)")
	f.StringVar(&o.decision, "decision", "", "`ID` of a decision on record")
	f.StringVar(&o.state, "state", "", "the state directory of --decision (default: paths.state_root of the configuration)")
	f.StringVarP(&o.output, "output", "o", "", "json or yaml (default: lines to read)")
	return cmd
}

// check reports errors in the flags, and parses those that name no file.
func (o *runFlags) check() error {
	others := o.old != "" || o.hook != "" || o.at != "" || o.facts != "" || o.references != "" || o.connection != "" || len(o.sources)+len(o.kinds) > 0
	switch {
	case len(o.pods) == 0 && o.decision == "":
		return errors.New("say what to ask about: a pod with --pod, or a decision on record with --decision")
	case o.decision != "" && (len(o.pods) > 0 || others):
		return errors.New("the question of --decision is the one on record: leave out what else says what is asked")
	case o.decision == "" && o.state != "":
		return errors.New("--state is for --decision")
	case o.hook != "" && !slices.Contains(cli.Hooks, o.hook):
		return fmt.Errorf("there is no hook %q; want admit, merge, filter or connect", o.hook)
	case len(o.sources) > len(o.pods) || len(o.kinds) > len(o.pods):
		return errors.New("there is more than one --source or --kind for a --pod")
	}
	for _, kind := range o.kinds {
		if !slices.Contains([]string{"file", "http", "api"}, kind) {
			return fmt.Errorf("there is no kind of sources %q; want file, http or api", kind)
		}
	}
	o.question.Hook = o.hook
	if o.at != "" {
		at, err := time.Parse(time.RFC3339, o.at)
		if err != nil {
			return fmt.Errorf("--time: want a time such as 2026-01-31T18:00:00Z, found %q", o.at)
		}
		o.question.Time = at.UTC()
	}
	return nil
}

// read reads the files that the flags name.
func (o *runFlags) read(ctx context.Context) error {
	files := cli.Manifests{}
	for i, path := range o.pods {
		text, err := files.Read(ctx, path)
		if err != nil {
			return err
		}
		m := author.Manifest{Path: path, Text: text}
		if i < len(o.sources) {
			m.Source = o.sources[i]
		}
		if i < len(o.kinds) {
			m.Kind = o.kinds[i]
		}
		o.question.Pods = append(o.question.Pods, m)
	}
	if o.facts != "" {
		text, err := files.Read(ctx, o.facts)
		if err != nil {
			return err
		}
		o.question.Node = &author.Manifest{Path: o.facts, Text: text}
	}
	if o.references != "" {
		text, err := files.Read(ctx, o.references)
		if err != nil {
			return err
		}
		o.question.References = &author.Manifest{Path: o.references, Text: text}
	}
	if o.connection != "" {
		text, err := files.Read(ctx, o.connection)
		if err != nil {
			return err
		}
		o.question.Connection = &author.Manifest{Path: o.connection, Text: text}
	}
	if o.old == "" {
		return nil
	}
	text, err := files.Read(ctx, o.old)
	if err != nil {
		return err
	}
	o.question.Old = &author.Manifest{Path: o.old, Text: text}
	o.question.Running = slices.Index(o.pods, o.old) + 1
	if len(o.pods) > 1 && o.question.Running == 0 {
		return fmt.Errorf("--old %s is no candidate: it is the --pod that runs", o.old)
	}
	return nil
}

func (a *app) runPolicy(cmd *cobra.Command, document string, o *runFlags) error {
	cfg, err := a.draftConfig(cmd)
	if err != nil {
		return err
	}
	var run *author.PolicyRun
	o.decision = strings.TrimPrefix(o.decision, "decision/") // the form that get decisions -o name prints
	if o.decision == "" {
		if err := o.read(cmd.Context()); err != nil {
			return err
		}
		run, err = author.AskPolicy(cmd.Context(), cfg, document, &o.question)
	} else {
		if o.state == "" {
			if cfg, err = a.LoadConfig(cmd.Context()); err != nil {
				return err
			}
			o.state = cfg.Paths.StateRoot
		}
		run, err = author.AskPolicyAgain(cmd.Context(), cfg, document, replay.StateFiles(o.state), o.decision)
		if errors.Is(err, author.ErrNoDecisions) {
			err = fmt.Errorf("%s: %w", o.state, err)
		}
	}
	if err != nil {
		return err
	}
	if o.output != "" {
		err = cli.PrintObject(a.Out, o.output, run)
	} else {
		a.printRun(run)
	}
	if err == nil && run.Verdict.Failure != "" {
		err = fmt.Errorf("the plugin gave no answer: %s", run.Verdict.Failure)
	}
	return err
}

func (a *app) printRun(run *author.PolicyRun) {
	s := &run.Verdict
	if answer := strings.TrimSpace(s.Answer); answer != "" {
		fmt.Fprintln(a.Out, printable.Line(run.Policy+": "+answer))
	} else {
		fmt.Fprintln(a.Out, printable.Line(run.Policy+": no answer"))
	}
	a.printStatement(s, run.Log, "  ")
	if s.NotAsked == "" {
		fmt.Fprintf(a.Out, "The call took %s of limits.fuel.\n", share(s.Fuel, int64(run.Limits.Fuel)))
	}
	if run.Unpinned {
		fmt.Fprintf(a.Out, "note: sha256 in %s is not that of the module; write it before an agent reads the policy\n", printable.Line(run.Document))
	}
}

// share formats a part of a whole as a percentage.
func share(part, whole int64) string {
	percent := 100 * float64(part) / float64(max(whole, 1))
	switch {
	case percent >= 1:
		return fmt.Sprintf("%.1f %%", percent)
	case percent > 0 && percent < 0.01:
		return "less than 0.01 %"
	}
	return fmt.Sprintf("%.2f %%", percent)
}
