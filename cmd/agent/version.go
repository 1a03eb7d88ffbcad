package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) versionCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this command, and of the agent if it answers",
		Args:  cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "" && !cli.IsObjectFormat(output) {
				return cli.WrongUsage(cmd, fmt.Errorf("unknown output %q; want json or yaml", output))
			}
			return a.printVersion(cmd, output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml (default: lines to read)")
	a.AddSocketFlag(cmd)
	return cmd
}

func (a *app) printVersion(cmd *cobra.Command, output string) error {
	answer := struct {
		Client api.Version  `json:"clientVersion"`
		Agent  *api.Version `json:"agentVersion,omitempty"`
	}{Client: api.NewVersion(version)}
	var agent api.Version
	c, err := a.Client(cmd)
	if err == nil {
		err = c.Get(cmd.Context(), "/v1/version", &agent)
	}
	if err == nil {
		answer.Agent = &agent
	} else {
		fmt.Fprintf(a.ErrOut, "Agent:  unknown; %s\n", cli.Hanging(err.Error()))
	}
	if output != "" {
		return cli.PrintObject(a.Out, output, answer)
	}
	fmt.Fprintf(a.Out, "Client: %s\n", versionLine(answer.Client))
	if answer.Agent != nil {
		fmt.Fprintf(a.Out, "Agent:  %s\n", versionLine(agent))
	}
	return nil
}

func versionLine(v api.Version) string {
	line := fmt.Sprintf("%s (%s, %s", v.Version, v.Go, v.Platform)
	if v.Revision != "" {
		line += ", " + v.Revision
	}
	return printable.Line(line + ")")
}
