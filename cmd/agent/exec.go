package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/server/client"
)

func (a *app) execCommand() *cobra.Command {
	var o execFlags
	cmd := &cobra.Command{
		Use:   "exec NAMESPACE/POD -- COMMAND [ARGUMENT...]",
		Short: "Run a program in a container",
		Long: "Runs a program in a running container of a pod until the program ends, and exits with its exit\n" +
			"status, or with 1 after an error. A pod of a manifest can be named as in the manifest, too. With\n" +
			"-t the output of the program reaches the terminal unchanged; otherwise control characters are\n" +
			"shown as escapes. -c is the container, as with kubectl: use --config for another configuration.",
		Example: "  wardlet exec default/web -- cat /etc/hosts\n  wardlet exec -it -n default web -c main -- sh\n" +
			"  wardlet exec -i default/web -- sh -c 'cat >/tmp/file' <file",
		RunE: func(cmd *cobra.Command, args []string) error { return a.exec(cmd, args, &o) },
	}
	o.add(a, cmd)
	cmd.Flags().BoolVarP(&o.tty, "tty", "t", false, "run the program on a terminal, with -i")
	return cmd
}

// execFlags are the flags of exec and attach.
type execFlags struct {
	containerFlags

	stdin, tty bool
}

// add adds the flags that exec and attach share.
func (o *execFlags) add(a *app, cmd *cobra.Command) {
	o.containerFlags.add(a, cmd)
	cmd.Flags().BoolVarP(&o.stdin, "stdin", "i", false, "pass standard input on to the program")
}

// programError reports that a program in a container exited with a status other than 0.
type programError struct{ status int }

// Error implements error.
func (e *programError) Error() string {
	return fmt.Sprintf("command terminated with exit code %d", e.status)
}

func (a *app) exec(cmd *cobra.Command, args []string, o *execFlags) error {
	in, name, command, err := execArguments(cmd, o.namespace, args)
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
	if o.tty && !o.stdin {
		fmt.Fprintln(a.ErrOut, "Unable to use a TTY without standard input: -t goes with -i")
	}
	terminal := o.tty && o.stdin && onTTY(a.In)
	if o.tty && o.stdin && !terminal {
		fmt.Fprintln(a.ErrOut, "Unable to use a TTY - input is not a terminal or the right kind of file")
	}
	status, err := a.connect(cmd.Context(), c, of, "exec", url.Values{"command": command}, &connection{stdin: o.stdin, tty: terminal, terminal: terminal})
	switch {
	case cmd.Context().Err() != nil:
		return errors.New("interrupted; the program may go on in the container")
	case err != nil:
		return of.explained(err)
	case status != 0:
		return &programError{status}
	}
	return nil
}

// connection describes how this process is connected to a program in a container.
type connection struct {
	// stdin passes standard input on. tty is set if the program runs on a terminal, and terminal if
	// standard input is a terminal, too, and is connected to the program's.
	stdin, tty, terminal bool
}

// connect connects this process to a program until the program exits, and returns its exit status.
// of and query select the endpoint of the container.
func (a *app) connect(ctx context.Context, c *client.Client, at *container, of string, query url.Values, how *connection) (status int, err error) {
	query.Set("stdout", "true")
	var program client.Program
	if how.stdin {
		program.Stdin = a.In
		query.Set("stdin", "true")
	}
	if program.TTY = how.tty; how.tty {
		query.Set("tty", "true")
	} else {
		query.Set("stderr", "true")
	}
	if how.terminal {
		program.Stdout = a.RawOut
		return a.onTerminal(ctx, &program, func() (int, error) { return c.Exec(ctx, at.path(of, query), &program) })
	}
	out, flush := containerOut(a.RawOut)
	errOut, flushErr := containerOut(a.RawErr)
	program.Stdout = out
	if !how.tty {
		program.Stderr = errOut
	}
	status, err = c.Exec(ctx, at.path(of, query), &program)
	if ctx.Err() == nil {
		flush()
		flushErr()
	}
	return status, err
}

// execArguments returns the pod and the command, which follows --.
func execArguments(cmd *cobra.Command, namespace string, args []string) (in, name string, command []string, err error) {
	dash := cmd.ArgsLenAtDash()
	switch {
	case dash < 0 && len(args) > 1:
		return "", "", nil, fmt.Errorf("put the command behind --, as in %s %s -- %s", cmd.CommandPath(), args[0], args[1])
	case dash < 0 || dash == len(args):
		return "", "", nil, fmt.Errorf("say what to run, as in %s NAMESPACE/POD -- COMMAND", cmd.CommandPath())
	}
	in, name, err = podArgument(namespace, args[:dash])
	return in, name, args[dash:], err
}

// onTerminal runs a program with standard input, which is a terminal: it passes each key on to the
// program, and the size of the terminal whenever the size changes.
func (a *app) onTerminal(ctx context.Context, p *client.Program, run func() (int, error)) (status int, err error) {
	file, ok := a.In.(*os.File)
	if !ok {
		return 0, errors.New("standard input is no terminal")
	}
	fd := int(file.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return 0, fmt.Errorf("the terminal cannot be set up: %w; go on without -t", err)
	}
	defer func() { err = errors.Join(err, term.Restore(fd, before)) }()
	ctx, cancel := context.WithCancel(ctx)
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, unix.SIGWINCH)
	defer signal.Stop(changed)
	sizes := make(chan client.Size)
	p.Sizes = sizes
	var watching sync.WaitGroup
	watching.Go(func() {
		defer close(sizes)
		for {
			if width, height, err := term.GetSize(fd); err == nil {
				select {
				case sizes <- client.Size{Width: uint16(width), Height: uint16(height)}:
				case <-ctx.Done():
					return
				}
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	})
	defer func() { cancel(); watching.Wait() }()
	return run()
}
