package main

import (
	"path/filepath"
	"testing"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	socket, _ := serve(t, &knowledge{})
	golden(t, "version", wardlet(t.Context(), "version", "--socket", socket))
	golden(t, "version-json", wardlet(t.Context(), "version", "-o", "json", "--socket", socket))
}

func TestVersion_ofTheRootCommand(t *testing.T) {
	t.Parallel()
	golden(t, "version-flag", wardlet(t.Context(), "--version"))
	golden(t, "version-flag", wardlet(t.Context(), "-v"))
}

func TestVersionWithoutAnAgent(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	golden(t, "version-no-agent", wardlet(t.Context(), "version", "--socket", socket), socket, "SOCKET")
	golden(t, "version-no-agent-yaml", wardlet(t.Context(), "version", "-o", "yaml", "--socket", socket), socket, "SOCKET")
}
