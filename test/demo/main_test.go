package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(playVariable); dir != "" {
		os.Exit(playIn(dir))
	}
	goleak.VerifyTestMain(m)
}
