package preflight

import (
	"bytes"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

func TestTheCapsOfAConfiguration(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ module, code, metered int }{
		"are the sandbox's by default":   {4 << 20, 3 << 20, 8 << 20},
		"are less":                       {1 << 20, 3 << 18, 2 << 20},
		"are the least":                  {64 << 10, 64 << 10, 174762},
		"are the greatest":               {6 << 20, 6 << 20, 16 << 20},
		"leave the code alone":           {6 << 20, 3 << 20, 8 << 20},
		"leave the whole module alone":   {4 << 20, 4 << 20, 11184810},
		"are no more than what is meant": {4 << 20, 1<<20 + 1, 2796205},
	} {
		want := verify.Default()
		want.Module, want.Code, want.Metered = test.module, test.code, test.metered
		got := parts.ModuleCaps(&config.Policy{ModuleBytes: test.module, CodeBytes: test.code})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(verify.Default(), parts.ModuleCaps(&config.Default().Policy)); diff != "" {
		t.Errorf("the defaults of agent.toml are not the sandbox's (-sandbox +agent.toml):\n%s", diff)
	}
}

// If the compiler answers that the bytes are no module, it has accepted their length.
func TestTheCompilerTakesTheLongestModuleAConfigurationAllows(t *testing.T) {
	t.Parallel()
	caps := parts.ModuleCaps(&config.Policy{ModuleBytes: 6 << 20, CodeBytes: 6 << 20})
	// Pieces of data are joined with up to 128 zeros between two.
	const more = 128<<16 + 1<<20
	cache, err := compile.Open(filepath.Join(t.TempDir(), "cache"), compile.Options{
		Config: func(bool) wazero.RuntimeConfig { return wazero.NewRuntimeConfig() }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	runtime := wazero.NewRuntimeWithConfig(t.Context(), cache.RuntimeConfig())
	defer runtime.Close(t.Context())
	_, err = compile.NewLibrary(cache, runtime).Acquire(t.Context(), "", compile.Whole(make([]byte, caps.Module+caps.Metered+more)))
	if _, refused := errors.AsType[*compile.Refused](err); !refused {
		t.Errorf("error %v, want what the compiler says", err)
	}
}

func TestPluginsAreTakenUpToTheSizeOfTheConfiguration(t *testing.T) {
	t.Parallel()
	const ok = "ok policies DIR/policies: 1 policy (a), 0 tests passed"
	nops, loops := w.Code(bytes.Repeat([]byte{0x01}, 40<<10)), w.Code(bytes.Repeat(w.Loop(), 900))
	for name, test := range map[string]struct {
		plugin       []byte
		module, code int
		want         string
	}{
		"longer than by default": {w.Padded(w.Allowing(0, nil), 4<<20+1), 5 << 20, 3 << 20, ok},
		"a byte too long": {
			w.Padded(w.Allowing(0, nil), 5<<20+1), 5 << 20, 3 << 20,
			"module: a.wasm cannot be read: 5242881 bytes long, more than the 5242880 it may have; build it smaller, or raise policy.module_bytes in agent.toml",
		},
		"too long where less than by default is wanted": {
			w.Padded(w.Allowing(0, nil), 64<<10+1), 64 << 10, 64 << 10,
			"module: a.wasm cannot be read: 65537 bytes long, more than the 65536 it may have; build it smaller, or raise policy.module_bytes in agent.toml",
		},
		"of code as much as there may be": {w.Allowing(1, nops), 4 << 20, 64 << 10, ok},
		"of too much code": {
			w.Allowing(2, nops), 4 << 20, 64 << 10,
			"module: a.wasm cannot be loaded: AbiMismatch: code section, at byte 0x50: 81947 bytes of code: at most 65536 are supported",
		},
		"of code that counting makes too long": {
			w.Allowing(20, loops), 4 << 20, 64 << 10,
			"with what counts its fuel the code has more than 174762 bytes: it has very many loops and blocks",
		},
		"of the same code where there may be more": {w.Allowing(20, loops), 4 << 20, 256 << 10, ok},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newSite(t)
			n.Cfg.Policy.ModuleBytes, n.Cfg.Policy.CodeBytes = test.module, test.code
			n.policyOf(t, "a", test.plugin, "")
			got := checkPolicies(t.Context(), n.Cfg, "edge")
			line := strings.ReplaceAll(string(got[0].Level)+" "+got[0].Subject+": "+got[0].Message, n.Dir, "DIR")
			if len(got) != 1 || !strings.HasSuffix(line, test.want) {
				t.Errorf("findings %s\nwant %s", line, test.want)
			}
		})
	}
}
