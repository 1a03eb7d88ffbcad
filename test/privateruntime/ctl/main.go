// Command privateruntime starts and removes private container runtimes; tools/setup.sh runtime
// builds it.
//
//	privateruntime up [-name default]            starts one; success if it is already up
//	privateruntime down [-name default | -all]   removes it with all it made; success if it is gone
//	privateruntime status                        lists the runtimes of the machine
//
// Exit status 1 is a failure, 2 a wrong command line. A started runtime stays up after the command.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"github.com/wardlet/wardlet/test/privateruntime"
)

// errUsage reports a wrong command line.
var errUsage = errors.New("usage: privateruntime up [-name NAME] | down [-name NAME | -all] | status")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	switch {
	case err == nil:
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "privateruntime:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet("privateruntime", flag.ContinueOnError)
	flags.Usage = func() {}
	name := flags.String("name", "default", "")
	all := flags.Bool("all", false, "")
	if err := flags.Parse(args[1:]); err != nil || flags.NArg() > 0 {
		return errUsage
	}
	switch args[0] {
	case "up":
		return up(ctx, *name)
	case "down":
		if *all {
			return downAll(ctx)
		}
		return down(ctx, *name)
	case "status":
		return status()
	}
	return errUsage
}

func up(ctx context.Context, name string) error {
	started, err := privateruntime.Start(ctx, privateruntime.Options{Name: name})
	if errors.Is(err, privateruntime.ErrRunning) {
		return alreadyUp(name)
	}
	if err != nil {
		return err
	}
	fmt.Printf("runtime %s is up\n", name)
	printUse(name, started.Endpoint())
	return nil
}

func alreadyUp(name string) error {
	runtimes, err := privateruntime.List()
	if err != nil {
		return err
	}
	for _, known := range runtimes {
		if known.Name != name {
			continue
		}
		fmt.Printf("runtime %s is up already (started from %s)\n", name, known.Repository)
		printUse(name, known.Endpoint)
		return nil
	}
	return fmt.Errorf("runtime %s was taken away at the same time; try again", name)
}

func printUse(name, endpoint string) {
	fmt.Printf("to use it:       export CONTAINER_RUNTIME_ENDPOINT=%s\n", endpoint)
	fmt.Printf("to take it away: %s down -name %s\n", os.Args[0], name)
}

func down(ctx context.Context, name string) error {
	if err := privateruntime.Down(ctx, name); err != nil {
		return err
	}
	fmt.Printf("runtime %s is gone\n", name)
	return nil
}

func downAll(ctx context.Context) error {
	runtimes, err := privateruntime.List()
	if err != nil {
		return err
	}
	var failed []error
	for _, known := range runtimes {
		failed = append(failed, down(ctx, known.Name))
	}
	return errors.Join(failed...)
}

func status() error {
	runtimes, err := privateruntime.List()
	if err != nil {
		return err
	}
	if len(runtimes) == 0 {
		fmt.Println("no runtime is up")
		return nil
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAME\tSTATE\tSUBNET\tENDPOINT\tSTARTED FROM")
	for _, known := range runtimes {
		state := "dead"
		switch {
		case known.Dir == "":
			state = "unknown, ask as root"
		case known.PID != 0 && known.Ready:
			state = fmt.Sprintf("up (%d)", known.PID)
		case known.PID != 0:
			state = fmt.Sprintf("starting (%d)", known.PID)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", known.Name, state, known.Subnet, known.Endpoint, known.Repository)
	}
	return table.Flush()
}
