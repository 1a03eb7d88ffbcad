package main

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
)

func (a *app) attachCommand() *cobra.Command {
	var o attachFlags
	cmd := &cobra.Command{
		Use:   "attach NAMESPACE/POD",
		Short: "Attach to the program that a container runs",
		Long: "Prints what the program of a container writes from now on, until the program ends. With -i it\n" +
			"passes standard input to the program. Ctrl-C does not end the program, unless -it passes the key\n" +
			"to it. A pod of a manifest can be named as in the manifest, too. -c is the container, as with\n" +
			"kubectl: use --config for another configuration.",
		Example: "  wardlet attach default/web\n  wardlet attach -it -n default shell -c main",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.attach(cmd, args, &o) },
	}
	o.add(a, cmd)
	cmd.Flags().BoolVarP(&o.tty, "tty", "t", false, "standard input is the program's terminal, with -i and if it has one")
	cmd.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "print only what the program writes")
	return cmd
}

// attachFlags are the flags of attach.
type attachFlags struct {
	execFlags

	quiet bool
}

func (a *app) attach(cmd *cobra.Command, args []string, o *attachFlags) error {
	in, name, err := podArgument(o.namespace, args)
	if err != nil {
		return cli.WrongUsage(cmd, err)
	}
	c, err := a.Client(cmd)
	if err != nil {
		return err
	}
	of, err := o.find(cmd.Context(), a, c, in, name)
	if err != nil {
		return err
	}
	say := func(format string, values ...any) {
		if !o.quiet {
			fmt.Fprintf(a.ErrOut, format+"\n", values...)
		}
	}
	switch {
	case o.tty && !of.tty:
		say("error: Unable to use a TTY - container %s did not allocate one", of.name)
	case o.tty && !o.stdin:
		say("Unable to use a TTY without standard input: -t goes with -i")
	}
	if o.stdin {
		say("All commands and output from this session will be recorded in container logs, including credentials and sensitive information passed through the command prompt.")
		say("If you don't see a command prompt, try pressing enter.")
	}
	// A program on a terminal has one output, whether this process has a terminal or not.
	how := connection{stdin: o.stdin, tty: of.tty, terminal: of.tty && o.stdin && onTTY(a.In)}
	_, err = a.connect(cmd.Context(), c, of, "attach", url.Values{}, &how)
	switch {
	case cmd.Context().Err() != nil && !o.stdin:
		return nil // an interrupt ends attach without an error
	case cmd.Context().Err() != nil:
		return errors.New("interrupted; the program goes on in the container")
	}
	return of.explained(err)
}
