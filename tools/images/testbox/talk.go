package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// batch is the time between two bursts of lines.
const batch = 10 * time.Millisecond

// talk writes "ready" and waits for a file, if one is named. It then writes numbered lines of 100
// bytes, from 0.
func talk(args []string) error {
	flags := flag.NewFlagSet("testbox talk", flag.ContinueOnError)
	lines := flags.Int("lines", 1000, "how many lines")
	rate := flags.Int("rate", 10_000, "how many of them in a second")
	when := flags.String("when", "", "the file to wait for; empty for none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "ready")
	for *when != "" {
		_, err := os.Stat(*when)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		time.Sleep(batch)
	}
	out := bufio.NewWriter(os.Stdout)
	filler := strings.Repeat(".", 90)
	began := time.Now()
	for i := 0; i < *lines; {
		due := min(*lines, int(time.Since(began).Seconds()*float64(*rate)))
		for ; i < due; i++ {
			fmt.Fprintf(out, "%08d %s\n", i, filler)
		}
		if err := out.Flush(); err != nil {
			return err
		}
		time.Sleep(batch)
	}
	return nil
}
