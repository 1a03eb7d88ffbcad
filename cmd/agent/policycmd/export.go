package policycmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) policyExportCommand() *cobra.Command {
	var (
		f          recordsFlags
		o          replay.ExportOptions
		to, output string
	)
	cmd := &cobra.Command{
		Use:   "export [ID...] --to FILE",
		Short: "Write recorded decisions to a file, with all that is needed to make them again",
		Long: "Writes recorded decisions, all or those that are named, to a zip archive: with the documents and\n" +
			"facts that the policies saw, and with the policies and plugins. \"wardlet policy replay --bundle\"\n" +
			"makes them again on any machine, \"wardlet policy diff --bundle\" tries other policies.\n\n" +
			"--redact removes from the documents: values of environment variables, commands and arguments,\n" +
			"headers and queries of probes and hooks, users and queries in URLs of volumes, attributes and\n" +
			"annotations of volumes, credential specs of Windows, and annotations, except those that say how a\n" +
			"pod is confined; equal values stay equal. Each decision is made again without them, and the file\n" +
			"has that result. A decision with another result is left out, and named. Names, labels, images,\n" +
			"paths, and the policies with their settings stay. A running agent is not disturbed. The exit\n" +
			"status is 1 if anything is damaged or not in the file.",
		Example: "  wardlet policy export --to decisions.zip --redact\n" +
			"  wardlet policy export operator-12 tenant-a-7 --to two.zip --state /mnt/node7/var/lib/wardlet",
		RunE: func(cmd *cobra.Command, ids []string) error {
			if err := wantsObject(cmd, output); err != nil {
				return err
			}
			if to == "" {
				return cli.WrongUsage(cmd, errors.New("name the file to write with --to"))
			}
			from, err := f.open(a, cmd)
			if err != nil {
				return err
			}
			defer from.Close()
			o.IDs = ids
			return a.export(cmd, from, to, output, o)
		},
	}
	f.addState(cmd)
	cmd.Flags().StringVar(&to, "to", "", "the file to write, for its owner only; it must not exist")
	cmd.Flags().BoolVar(&o.Redact, "redact", false, "redact fields that commonly hold secrets")
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml (default: lines to read)")
	return cmd
}

// exportReport is the result of writing decisions to a file.
type exportReport struct {
	// File is the path of the written file, empty for none.
	File string `json:"file"`
	// Decisions is the number of decisions in the file.
	Decisions int `json:"decisions"`
	// Findings are the decisions that are not in the file.
	Findings []*replay.Replayed `json:"findings"`
	// Damaged lists the damaged places in the records.
	Damaged []string `json:"damaged"`
	// Missing are the IDs that were named and are not on record.
	Missing []string `json:"missing"`
}

func (a *app) export(cmd *cobra.Command, from *recorded, to, output string, o replay.ExportOptions) error {
	r := &exportReport{Findings: []*replay.Replayed{}, Damaged: []string{}}
	found := map[string]bool{}
	err := cli.WriteNew(to, func(w io.Writer) error {
		damaged, err := replay.ExportDecisions(cmd.Context(), from.cfg, from, w, o, func(x *replay.Replayed) {
			found[x.ID] = true
			if x.Outcome == replay.ExportIn {
				r.Decisions++
				return
			}
			r.Findings = append(r.Findings, x)
			if output == "" {
				a.printLeftOut(x)
			}
		})
		for _, fault := range damaged {
			r.Damaged = append(r.Damaged, fault.Error())
		}
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", from.name, err)
		case r.Decisions == 0:
			return errNothing
		}
		return nil
	})
	if err != nil && !errors.Is(err, errNothing) {
		return err
	}
	if err == nil {
		r.File = to
	}
	r.Missing = notFound(o.IDs, found)
	if output == "" {
		a.printDamaged(r.Damaged)
		if err == nil {
			fmt.Fprintf(a.Out, "%s written to %s\n", cli.Plural(r.Decisions, "decision", "decisions"), printable.Line(to))
		}
	} else if err := cli.PrintObject(a.Out, output, r); err != nil {
		return err
	}
	var faults faultList
	faults.add(len(r.Findings), "decision is not in the file", "decisions are not in the file")
	faults.damaged(r.Damaged)
	faults.missing(r.Missing)
	return cmp.Or(faults.err(), err)
}

// errNothing means that the bundle would be empty and was not written.
var errNothing = errors.New("there is nothing to write: " + noRecord)

// printLeftOut says why a decision is not in the file.
func (a *app) printLeftOut(x *replay.Replayed) {
	what := fmt.Sprintf("%s %s %s/%s: left out: ", x.ID, x.Hook, x.Namespace, x.Name)
	if x.Outcome == replay.ExportOtherwise {
		what += "redacted it comes out otherwise: " + x.Difference.String()
	} else {
		what += x.Error
	}
	fmt.Fprintln(a.Out, printable.Line(what))
}
