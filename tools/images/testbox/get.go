package main

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// get prints the answer of a URL.
func get(args []string) error {
	flags := flag.NewFlagSet("testbox get", flag.ContinueOnError)
	timeout := flags.Duration("timeout", 5*time.Second, "give up after this long")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("get takes one URL, not %d", flags.NArg())
	}
	client := http.Client{Timeout: *timeout}
	response, err := client.Get(flags.Arg(0))
	if err != nil {
		return fmt.Errorf("get: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		return fmt.Errorf("read the answer of %s: %w", flags.Arg(0), err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", flags.Arg(0), response.Status)
	}
	return nil
}
