package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// errUsage reports a command line that names no known subcommand.
var errUsage = errors.New("usage: images build|serve-registry [flags] (-h after a subcommand lists its flags)")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	switch args[0] {
	case "build":
		return buildCommand(args[1:])
	case "serve-registry":
		return serveCommand(ctx, args[1:])
	}
	return errUsage
}

func buildCommand(args []string) error {
	flags := flag.NewFlagSet("images build", flag.ContinueOnError)
	pause := flags.String("pause", "", "static pause binary")
	testbox := flags.String("testbox", "", "static testbox binary")
	out := flags.String("out", "", "directory for the archives")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *pause == "" || *testbox == "" || *out == "" {
		return fmt.Errorf("build needs -pause, -testbox and -out: %w", errUsage)
	}
	return buildArchives(*pause, *testbox, *out)
}

func serveCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("images serve-registry", flag.ContinueOnError)
	options := registryOptions{out: os.Stdout}
	flags.StringVar(&options.addr, "addr", "127.0.0.1:0", "address to listen on; port 0 picks a free one")
	flags.StringVar(&options.images, "images", "build/images", "directory that images build wrote")
	flags.StringVar(&options.user, "user", "", "demand this user name (basic authentication)")
	flags.StringVar(&options.password, "password", "", "demand this password")
	flags.String("label", "", "anything; shows whose registry it is in the list of processes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return serveRegistry(ctx, options)
}
