package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// agree reads files of a directory again and again until SIGTERM, each time all files in one
// version. It prints their text when the text has changed, and fails if the files differ.
func agree(args []string) error {
	flags := flag.NewFlagSet("agree", flag.ContinueOnError)
	every := flags.Duration("every", 100*time.Millisecond, "how often they are read")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() < 2 {
		return errors.New("want a directory and files in it")
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	tick := time.NewTicker(*every)
	defer tick.Stop()
	for last := ""; ; {
		text, err := version(flags.Arg(0), flags.Args()[1:])
		switch {
		case errors.Is(err, fs.ErrNotExist): // replaced in the meantime, or not there yet
		case err != nil:
			return err
		case text != last:
			last = text
			fmt.Fprintln(os.Stdout, text)
		}
		select {
		case <-tick.C:
		case <-signals:
			return nil
		}
	}
}

// version returns the text that all files have. If there is a link ..data, its target is the
// directory of one version, which does not change.
func version(dir string, names []string) (text string, err error) {
	at := filepath.Join(dir, "..data")
	// If only the target of the link is missing, the link now has another target. The links of the
	// files cannot be used instead, because each of them could lead to another version.
	if _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) {
		at = dir
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return "", err
	}
	defer root.Close()
	for i, name := range names {
		data, err := root.ReadFile(name)
		if err != nil {
			return "", err
		}
		if i > 0 && string(data) != text {
			return "", fmt.Errorf("%s says %q, and %s %q", names[0], text, name, data)
		}
		text = string(data)
	}
	return text, nil
}
