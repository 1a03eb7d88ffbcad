package abi

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// sdk is the directory of the Go SDK, with the C SDK in its folder c.
const sdk = "../../plugins/sdk"

// guestBuilders build the conformance guest of each SDK, from the folder with the same name, into a
// file.
var guestBuilders = map[string]func(ctx context.Context, file string) (*exec.Cmd, error){
	"go": func(ctx context.Context, file string) (*exec.Cmd, error) {
		build := exec.CommandContext(ctx, "go", "build", "-C", sdk, "-trimpath", "-buildvcs=false", "-buildmode=c-shared",
			"-ldflags=-s -w", "-o", file, "./conformance/go")
		build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
		return build, nil
	},
	"c": func(ctx context.Context, file string) (*exec.Cmd, error) {
		const clang = "clang-19"
		if _, err := exec.LookPath(clang); err != nil {
			return nil, fmt.Errorf("%w: run tools/setup.sh guests", err)
		}
		sources, err := filepath.Glob(folder + "/c/*.c")
		args := append([]string{"--no-default-config", "@" + sdk + "/c/wasm.flags", "-Werror", "-I", sdk + "/c", "-o", file}, sources...)
		return exec.CommandContext(ctx, clang, args...), err
	},
}

// Guests have more memory and fuel than the modules of the set, because the runtime of a language
// needs it. They have all capabilities, so that they can declare the same fields in each case.
const (
	guestPages = 64
	guestFuel  = 1 << 30
)

// TestTheGuestsOfTheSDKs checks that the guest of each SDK returns the same as the module in WAT.
func TestTheGuestsOfTheSDKs(t *testing.T) {
	t.Parallel()
	for language, builder := range guestBuilders {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "guest.wasm")
			build, err := builder(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			if said, err := build.CombinedOutput(); err != nil {
				t.Fatalf("build the guest: %v\n%s", err, said)
			}
			binary, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			playGuest(t, newHost(t, readSet(t), "compiler"), binary)
		})
	}
}

func playGuest(t *testing.T, h *host, binary []byte) {
	t.Helper()
	change := func(p *policy) {
		p.MemoryPages, p.Fuel, p.Capabilities = guestPages, guestFuel, abi.Capabilities
	}
	// The guest stays loaded, so that its code is compiled and read only once.
	of, err := h.set.policy(&testCase{})
	if err != nil {
		t.Fatal(err)
	}
	change(&of)
	first, refused, err := h.load(t.Context(), binary, &of)
	if err != nil || refused != nil {
		t.Fatalf("the guest is not loaded: %+v, %v", refused, err)
	}
	t.Cleanup(func() { first.Close() })
	played := 0
	for _, c := range h.set.Cases {
		if !c.Guest {
			continue
		}
		played++
		t.Run(c.Name, func(t *testing.T) {
			h.play(t, c, binary, change, false)
		})
	}
	if played < 15 {
		t.Errorf("%d cases", played)
	}
}

// TestCasesOfGuestsNameTheirBehaviour checks that each module of a case for guests is named after
// its behaviour.
func TestCasesOfGuestsNameTheirBehaviour(t *testing.T) {
	t.Parallel()
	s := readSet(t)
	readme, err := os.ReadFile(folder + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Cases {
		of, err := s.policy(c)
		if err != nil {
			t.Fatal(err)
		}
		if c.Guest && of.Settings["behaviour"] != c.Module {
			t.Errorf("%s: the behaviour is %v, the module %s", c.Name, of.Settings["behaviour"], c.Module)
		}
		if c.Guest && !strings.Contains(string(readme), "| `"+c.Module+"` |") {
			t.Errorf("%s: the README does not say what the behaviour %s is", c.Name, c.Module)
		}
	}
}
