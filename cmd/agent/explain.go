package main

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) explainCommand() *cobra.Command {
	var o explainFlags
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Show how something came about",
		Args: func(cmd *cobra.Command, args []string) error {
			if namesPod(args) {
				return nil
			}
			return cli.KnownCommand(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if namesPod(args) {
				return a.explainPod(cmd, args, &o)
			}
			return cli.WrongUsage(cmd, errors.New("say what to explain: pod NAMESPACE/NAME"))
		},
	}
	a.AddSocketFlag(cmd)
	o.add(cmd)
	cmd.AddCommand(a.explainPodCommand())
	return cmd
}

// namesPod reports whether the first argument is a pod as get pods -o name prints it.
func namesPod(args []string) bool { return len(args) > 0 && strings.HasPrefix(args[0], "pod/") }

// explainFlags are the flags of explain pod.
type explainFlags struct{ namespace, output string }

func (o *explainFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "", "the pod's namespace, if it is not part of the name")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "json or yaml, with all that the timeline is made from")
}

func (a *app) explainPodCommand() *cobra.Command {
	var o explainFlags
	cmd := &cobra.Command{
		Use:     "pod NAMESPACE/NAME",
		Aliases: []string{"pods", "po"},
		Short:   "Show the timeline of a pod",
		Long: "Shows what happened to a pod, the oldest first: the document and the source that it comes from,\n" +
			"other sources that claimed its name and which won, what each policy answered with the fields it\n" +
			"read and the fuel it used, and what node and runtime did; then the present state: what waits, for\n" +
			"what, and until when. A pod of a manifest can be named as in the manifest, too. Events are those\n" +
			"since the agent started. What is known from before is shown above a line that says so: decisions,\n" +
			"what is stored with the pod, and what the runtime shows.",
		Example: "  wardlet explain pod default/web\n  wardlet explain pod -n default web-edge-1 -o yaml\n  wardlet explain pod/default/web",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.explainPod(cmd, args, &o) },
	}
	o.add(cmd)
	return cmd
}

func (a *app) explainPod(cmd *cobra.Command, args []string, o *explainFlags) error {
	in, name, err := podArgument(o.namespace, args)
	if err != nil {
		return cli.WrongUsage(cmd, err)
	}
	if o.output != "" && !cli.IsObjectFormat(o.output) {
		return cli.WrongUsage(cmd, fmt.Errorf("unknown output %q; want json or yaml, or none for text", o.output))
	}
	c, err := a.Client(cmd)
	if err != nil {
		return err
	}
	var story api.Timeline
	query := url.Values{"namespace": {in}, "name": {name}}
	if err := c.Get(cmd.Context(), "/v1/explain?"+query.Encode(), &story); err != nil {
		return err
	}
	if o.output != "" {
		return cli.PrintObject(a.Out, o.output, &story)
	}
	a.printStory(&story)
	return nil
}

// printStory prints a line for every moment, with its details below.
func (a *app) printStory(s *api.Timeline) {
	fmt.Fprintf(a.Out, "Pod %s\n\n", printable.Line(s.Namespace+"/"+s.Name))
	for i := range s.Moments {
		m := &s.Moments[i]
		at := "at some time"
		if !m.At.IsZero() {
			at = m.At.UTC().Format(time.RFC3339)
		}
		a.printMoment(fmt.Sprintf("%-20s  ", at), m)
	}
	if len(s.Moments) > 0 && len(s.Now) > 0 {
		fmt.Fprintln(a.Out)
	}
	if len(s.Now) > 0 {
		fmt.Fprintf(a.Out, "Now, %s\n", s.At.UTC().Format(time.RFC3339))
	}
	for i := range s.Now {
		a.printMoment("  ", &s.Now[i])
	}
}

func (a *app) printMoment(head string, m *api.Entry) {
	fmt.Fprintf(a.Out, "%s%-8s  %s\n", head, printable.Line(m.Part), printable.Joined(m.Text))
	below := strings.Repeat(" ", len(head)+12)
	for _, line := range m.Details {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		fmt.Fprintln(a.Out, below+indent+printable.Joined(line))
	}
}
