package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/printable"
)

func (a *app) versionCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this command, and of the agent if it answers",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "" && !isObjectFormat(output) {
				return &usageError{fmt.Errorf("unknown output %q; want json or yaml", output), cmd.CommandPath()}
			}
			return a.printVersion(cmd, output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml (default: lines to read)")
	a.addSocketFlag(cmd)
	return cmd
}

func (a *app) printVersion(cmd *cobra.Command, output string) error {
	answer := struct {
		Client api.Version  `json:"clientVersion"`
		Agent  *api.Version `json:"agentVersion,omitempty"`
	}{Client: api.NewVersion(version)}
	var agent api.Version
	c, err := a.agentClient(cmd)
	if err == nil {
		err = c.Get(cmd.Context(), "/v1/version", &agent)
	}
	if err == nil {
		answer.Agent = &agent
	} else {
		fmt.Fprintf(a.errOut, "Agent:  unknown; %s\n", hanging(err.Error()))
	}
	if output != "" {
		return printObject(a.out, output, answer)
	}
	fmt.Fprintf(a.out, "Client: %s\n", versionLine(answer.Client))
	if answer.Agent != nil {
		fmt.Fprintf(a.out, "Agent:  %s\n", versionLine(agent))
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
