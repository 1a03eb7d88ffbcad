//go:build e2e

package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/server/client"
	"github.com/wardlet/wardlet/test/harness"
)

// slowToCompile is the size of a module from which compilation takes long. Go plugins contain the
// whole Go runtime, and cost an agent with the race detector ten seconds of processor time.
const slowToCompile = 1 << 20

// examples are the plugins of plugins/examples that are slow to compile, each with a hook and
// settings that the plugin accepts.
var examples = []struct{ name, hook, rest string }{
	{"allowed-images", "admit", allow(webOne)},
	{"required-labels", "admit", "[settings]\nrequired = [\"team\"]\n"},
	{"pod-security", "admit", "[settings]\nlevel = \"baseline\"\n"},
	{"tenant-quota", "admit", "capabilities = [\"node.read\"]\n[settings.quota.all]\nnamespaces = [\"*\"]\npods = 1\n"},
	{"change-window", "filter", closed("all", "1h")},
	{"no-exec", "connect", ""},
	{"pinned-objects", "admit", "capabilities = [\"references.read\"]\n[settings]\nothers = \"deny\"\n"},
	{"source-precedence", "merge", order("file")},
}

// compiledExamples returns a directory with the compiled code of all these plugins, in the layout
// of an agent. An agent without the race detector makes it; the compiled code is the same.
var compiledExamples = sync.OnceValues(func() (string, error) {
	binary, err := plainBinary()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(buildDir, "examples")
	policies := filepath.Join(dir, "policies")
	if err := os.MkdirAll(policies, 0o700); err != nil {
		return "", err
	}
	for _, e := range examples {
		module, err := os.ReadFile(filepath.Join(builtPolicies, e.name+".wasm"))
		if err == nil {
			err = errors.Join(
				os.WriteFile(filepath.Join(policies, e.name+".wasm"), module, 0o600),
				os.WriteFile(filepath.Join(policies, e.name+".toml"), document(e.name, e.hook, module, e.rest), 0o600),
			)
		}
		if err != nil {
			return "", err
		}
	}
	a := &harness.Agent{Dir: dir, Program: binary}
	a.API = client.New(a.Socket())
	if err := a.Configure(&harness.Settings{Node: "compiles", Endpoint: "unix://" + a.Path("none.sock"), Policies: true}); err != nil {
		return "", err
	}
	return a.Path("state", "compiled"), compileAll(a)
})

// compileAll runs an agent until its policies are in force. This needs no runtime.
func compileAll(a *harness.Agent) error {
	if err := a.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience) // no test exists yet whose context could be used
	defer cancel()
	err := a.Process.Await(ctx, poll, func(ctx context.Context) error {
		var sets []api.PolicySet
		err := a.API.Get(ctx, "/v1/policies", &sets)
		if err == nil && (len(sets) != 1 || !sets[0].Ready) {
			err = fmt.Errorf("sets %+v", sets)
		}
		return err
	})
	if err = errors.Join(err, a.Process.Stop(farewell)); err != nil {
		return fmt.Errorf("an agent that compiles the plugins of plugins/examples: %w\n%s", err, strings.Join(a.LogTail(1000), "\n"))
	}
	return nil
}

// compiles copies the code of a plugin that is slow to compile into the agent's directory. The
// agent still verifies and rewrites the module itself. It may run already, because agents may share
// such a directory.
func (a *agent) compiles(t *testing.T, module []byte) {
	t.Helper()
	if a.cold || len(module) < slowToCompile {
		return
	}
	from, err := compiledExamples()
	if err != nil {
		t.Fatal(err)
	}
	// The file has a line with a digest, then the document of what is known of the module.
	sum := sha256.Sum256(module)
	known, err := os.ReadFile(filepath.Join(from, "accepted", hex.EncodeToString(sum[:])))
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(known), "\n")
	var accepted struct {
		Accepted struct{ Metered string }
	}
	if err := json.Unmarshal([]byte(line), &accepted); err != nil || accepted.Accepted.Metered == "" {
		t.Fatalf("%v in %s", err, known)
	}
	entry := accepted.Accepted.Metered
	to := a.Path("state", "compiled", "modules", entry)
	if _, err := os.Stat(to); err == nil {
		return
	}
	temp := a.Path("compiled.tmp")
	if err := errors.Join(
		os.MkdirAll(filepath.Dir(to), 0o700), // with the mode that the agent requires of all of them
		os.CopyFS(temp, os.DirFS(filepath.Join(from, "modules", entry))), os.Chmod(temp, 0o700),
		os.Rename(temp, to),
	); err != nil {
		t.Fatal(err)
	}
}
