package main

import (
	"bytes"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/config"
)

func TestASignalAsksForTheConfiguration(t *testing.T) {
	t.Parallel()
	asked, stop := reloadSignals()
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Error("the signal did not arrive")
	}
}

func TestTheLevelOfTheLogCanBeChanged(t *testing.T) {
	t.Parallel()
	for _, format := range []string{config.LogText, config.LogJSON} {
		cfg := config.Default()
		cfg.LogFormat, cfg.LogLevel = format, "error"
		var out bytes.Buffer
		logger, level := newLogger(&out, cfg)
		logger.Warn("first")
		if err := level.UnmarshalText([]byte("warn")); err != nil {
			t.Fatal(err)
		}
		logger.With("pod", "a").Warn("second")
		if got := out.String(); bytes.Contains(out.Bytes(), []byte("first")) || !bytes.Contains(out.Bytes(), []byte("second")) {
			t.Errorf("%s: log %q", format, got)
		}
	}
}
