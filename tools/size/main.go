package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(mainCode()) }

func mainCode() int {
	wardlet := flag.String("wardlet", "build/wardlet", "the agent")
	policies := flag.String("policies", "build/policies", "the directory make plugins wrote")
	flag.Parse()
	if os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "size: the agent is measured on a real container runtime, which needs root: run this as root, or with sudo -E")
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Stdout, os.Stderr, *wardlet, *policies); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		return 1
	}
	return 0
}

// run measures everything and prints the table. It returns an error if a limit is missed.
func run(ctx context.Context, out, progress io.Writer, wardlet, policies string) error {
	fmt.Fprintln(progress, "building the agent for", len(architectures), "architectures")
	lines, err := measureBinaries(ctx)
	if err != nil {
		return err
	}
	packages, err := measurePackages(ctx)
	if err != nil {
		return err
	}
	modules, err := measureModules(ctx, wardlet)
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "leaving an agent idle for %s\n", idleTime)
	idle, err := measureMemory(ctx, wardlet, policies)
	if err != nil {
		return err
	}
	resident := measured("memory of an idle agent, resident", idle.resident, maxIdle)
	lines = append(append(lines, packages), modules...)
	lines = append(lines, resident, measured("memory of an idle agent, PSS", idle.proportional, 0))
	missed := printTable(out, lines)
	if resident.missed {
		printMappings(out, idle.maps)
	}
	if missed > 0 {
		return errors.New("a limit is missed")
	}
	return nil
}

// printMappings prints the mappings in which the memory is resident.
func printMappings(out io.Writer, smaps string) {
	const most = 12
	fmt.Fprintln(out, "\nThe memory is resident in:")
	all := mappings(smaps)
	for _, m := range all[:min(most, len(all))] {
		fmt.Fprintf(out, "%10s   %s\n", megabytes(m.resident), m.name)
	}
}
