package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const usage = `usage: testbox COMMAND
  serve [-port N] [-message S] [-ignore-term]  HTTP: / /env /fs?path=FILE /exit?code=N
  sleep                                        until SIGTERM or SIGINT
  burn [-memory MIB]                           uses a core and holds memory until SIGTERM or SIGINT
  exit -code N [-after DURATION]
  echo ARGS...
  talk [-lines N] [-rate N] [-when FILE]       numbered lines of 100 bytes, once FILE exists
  agree [-every DURATION] DIR FILE...          prints what all files say; exit 1 if they differ
  fork                                         starts itself until the kernel refuses, as does all that it starts
  get [-timeout DURATION] URL                  prints the body; exit 1 unless 200
Under any other name it stands in for a program of another image: see standin.go.
`

func main() {
	if name := filepath.Base(os.Args[0]); name != "testbox" {
		if err := standin(name, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "standin:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	args := os.Args[2:]
	var err error
	switch os.Args[1] {
	case "serve":
		err = serve(args)
	case "sleep":
		sleep()
	case "burn":
		err = burn(args)
	case "exit":
		err = exit(args)
	case "echo":
		fmt.Fprintln(os.Stdout, strings.Join(args, " "))
	case "talk":
		err = talk(args)
	case "agree":
		err = agree(args)
	case "fork":
		err = fork()
	case "get":
		err = get(args)
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "testbox:", err)
		os.Exit(1)
	}
}

// sleep waits for SIGTERM or SIGINT. Without a handler, these signals do not terminate process 1 of
// a container.
func sleep() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	<-signals
}

func exit(args []string) error {
	flags := flag.NewFlagSet("testbox exit", flag.ContinueOnError)
	code := flags.Int("code", 0, "exit code")
	after := flags.Duration("after", 0, "how long to wait first")
	if err := flags.Parse(args); err != nil {
		return err
	}
	time.Sleep(*after)
	os.Exit(*code)
	return nil
}
