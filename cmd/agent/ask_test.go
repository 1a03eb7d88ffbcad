package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestTheConfigurationNamesTheSocket(t *testing.T) {
	t.Parallel()
	socket, _ := serve(t, &knowledge{})
	file := filepath.Join(t.TempDir(), "agent.toml")
	text := fmt.Sprintf("[paths]\nsocket = %q\n[[source]]\nname = \"a\"\nkind = \"file\"\npath = \"/m\"\n", socket)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	golden(t, "get-pods-none", wardlet(t.Context(), "get", "pods", "--config", file))
}

func TestABrokenConfigurationIsNoReasonNotToAsk(t *testing.T) {
	t.Parallel()
	socket, _ := serve(t, &knowledge{})
	file := filepath.Join(t.TempDir(), "agent.toml")
	if err := os.WriteFile(file, []byte("[paths]\nsockte = \"/x\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	golden(t, "get-pods-broken-config", wardlet(t.Context(), "get", "pods", "-c", file), file, "FILE")
	golden(t, "get-pods-none", wardlet(t.Context(), "get", "pods", "-c", file, "--socket", socket))
}

func TestAConfigurationThatIsNamedMustExist(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "none.toml")
	golden(t, "get-pods-no-config", wardlet(t.Context(), "get", "pods", "-c", file), file, "FILE")
}

func TestAnAgentThatDoesNotRun(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	golden(t, "get-pods-no-agent", wardlet(t.Context(), "get", "pods", "--socket", socket), socket, "SOCKET")
}
