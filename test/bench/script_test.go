package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// writeScript writes a program for the shell and returns its path.
func writeScript(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	// If another test forked a child while the file is open for writing, the child would keep the
	// file open until its exec, and executing the file would fail with ETXTBSY.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
