package main

import (
	"os"
	"os/signal"
	"syscall"
)

// reloadSignals returns the signals that ask for the configuration to be read
// again, until stop is called. One waits while another is obeyed; more would
// say the same.
func reloadSignals() (asked <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}
