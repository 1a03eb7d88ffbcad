package sdk_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The agent compiles and keeps all code that a plugin links.
func TestPluginsLinkNothingLarge(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./admit", "./filter", "./merge", "./request", "./validate", ".")
	list.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off")
	out, err := list.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, "github.com/wardlet/wardlet/plugins/sdk/internal/guest") {
		t.Fatalf("no list of packages: %s", out)
	}
	for _, large := range []string{"encoding/json", "fmt", "os", "reflect", "regexp", "strconv", "syscall", "testing", "time"} {
		if slices.Contains(linked, large) {
			t.Errorf("a plugin links %s", large)
		}
	}
}
