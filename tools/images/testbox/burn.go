package main

import (
	"errors"
	"flag"
	"os"
	"os/signal"
	"syscall"
)

// burn uses all of a core and holds memory until SIGTERM or SIGINT.
func burn(args []string) error {
	flags := flag.NewFlagSet("testbox burn", flag.ContinueOnError)
	mib := flags.Int("memory", 0, "MiB of memory to hold")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *mib < 0 {
		return errors.New("-memory must not be negative")
	}
	held := make([]byte, *mib<<20)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	for n := byte(1); ; n++ {
		// Each page is written, or the kernel would not provide it.
		for i := 0; i < len(held); i += 4096 {
			held[i] = n
		}
		for i := range 1 << 20 {
			n += byte(i)
		}
		select {
		case <-signals:
			return nil
		default:
		}
	}
}
