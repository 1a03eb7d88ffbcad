package main

import (
	"os"
	"os/signal"
	"syscall"
)

// reloadSignals returns the signals that request a reload of the configuration, until stop is
// called. While a reload runs, one signal is queued; further ones would add nothing.
func reloadSignals() (asked <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}
