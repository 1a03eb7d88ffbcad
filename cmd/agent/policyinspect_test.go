package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/cmd/agent/cli"
)

// moduleOf returns a module of sections. Each section is its number, followed by its content.
func moduleOf(sections ...string) string {
	text := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range sections {
		text = append(binary.AppendUvarint(append(text, s[0]), uint64(len(s)-1)), s[1:]...)
	}
	return string(text)
}

const (
	twoTypes     = "\x01\x02\x60\x00\x00\x60\x00\x01\x7f"
	twoFunctions = "\x03\x02\x00\x01"
	onePage      = "\x05\x01\x00\x01"
	twoBodies    = "\x0a\x02\x02\x00\x0b\x04\x00\x41\x00\x0b"
)

// plugin returns the smallest module with the hook admit.
func plugin() string {
	return moduleOf(twoTypes, twoFunctions, onePage,
		"\x07\x03\x06memory\x02\x00\x0fwardlet_abi_1_0\x00\x00\x0dwardlet_admit\x00\x01", twoBodies)
}

// imported returns an import of a function without parameters and results.
func imported(module, name string) string {
	return string(rune(len(module))) + module + string(rune(len(name))) + name + "\x00\x00"
}

// importing returns a module with imports that is not a plugin.
func importing(imports ...string) string {
	return moduleOf(twoTypes, "\x02"+string(binary.AppendUvarint(nil, uint64(len(imports))))+strings.Join(imports, ""),
		onePage, "\x07\x01\x06memory\x02\x00")
}

// metered matches a size that depends on the weights of the instructions.
var metered = regexp.MustCompile(`(metered |"?meteredBytes"?: )[1-9][0-9]*`)

func TestPolicyInspect(t *testing.T) {
	t.Parallel()
	var many []string
	for range 40 {
		many = append(many, imported("wasi_snapshot_preview1", "sched_yield"))
	}
	for i := range 35 {
		many = append(many, imported("m"+string(rune('A'+i)), ""))
	}
	started := moduleOf(twoTypes, twoFunctions, "\x05\x01\x01\x41\x80\x01",
		"\x07\x02\x06memory\x02\x00\x0dwardlet_admit\x00\x00", "\x08\x00", twoBodies)
	for name, test := range map[string]struct {
		module string
		args   []string
	}{
		"policy-inspect":                {module: plugin()},
		"policy-inspect-json":           {module: plugin(), args: []string{"-o", "json"}},
		"policy-inspect-yaml":           {module: plugin(), args: []string{"-o", "yaml"}},
		"policy-inspect-refused":        {module: started},
		"policy-inspect-refused-json":   {module: started, args: []string{"--output=json"}},
		"policy-inspect-refused-once":   {module: moduleOf(twoTypes, twoFunctions, onePage, "\x07\x01\x06memory\x02\x00", twoBodies)},
		"policy-inspect-torn":           {module: plugin()[:40]},
		"policy-inspect-many-imports":   {module: importing(many...)},
		"policy-inspect-steers-nothing": {module: importing(imported("env\x1b[2J", "a\u202eb\u009b"))},
		"policy-inspect-component":      {module: "\x00asm\x0d\x00\x01\x00"},
		"policy-inspect-text":           {module: "#!/bin/sh\n", args: []string{"-o", "json"}},
		"policy-inspect-empty":          {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "a.wasm")
			if err := os.WriteFile(file, []byte(test.module), 0o600); err != nil {
				t.Fatal(err)
			}
			got := wardlet(t.Context(), append([]string{"policy", "inspect", file}, test.args...)...)
			golden(t, name, metered.ReplaceAllString(got, "${1}N"), file, "FILE")
		})
	}
}

func TestPolicyInspectTakesTheSizesOfTheConfigurationThatIsNamed(t *testing.T) {
	t.Parallel()
	// longer returns a plugin with a custom section of about n bytes.
	longer := func(n int) string { return plugin() + moduleOf("\x00\x01x" + strings.Repeat("x", n))[8:] }
	// of returns a module with about n bytes of code.
	of := func(n int) string {
		body := "\x00" + strings.Repeat("\x01", 60_000) + "\x0b"
		bodies, types, size := "", "", string(binary.AppendUvarint(nil, uint64(len(body))))
		for range n / len(body) {
			bodies, types = bodies+size+body, types+"\x00"
		}
		count := string(rune(n / len(body)))
		return moduleOf(twoTypes, "\x03"+count+types, onePage, "\x07\x01\x06memory\x02\x00", "\x0a"+count+bodies)
	}
	const policyKeys = "[[source]]\nname = \"a\"\nkind = \"file\"\npath = \"/a\"\n[policy]\n"
	for name, test := range map[string]struct{ module, keys, want string }{
		"as short as by default":           {longer(4 << 20), "", "FILE is too large: a module may have at most 4194304 bytes; name a configuration with a greater"},
		"longer":                           {longer(4 << 20), "module_bytes = 5_242_880\n", "Refused:           no\n"},
		"not as long as by default":        {longer(66_000), "module_bytes = 65_536\ncode_bytes = 65_536\n", "FILE is too large: a module may have at most 65536 bytes;"},
		"with little code":                 {of(130_000), "code_bytes = 65_536\n", "120011 bytes of code: at most 65536 are supported"},
		"with a configuration of mistakes": {plugin(), "module_bytes = \"4M\"\n", "CONFIG:6: policy.module_bytes: want an integer, found the string \"4M\""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file, cfg := filepath.Join(dir, "a.wasm"), filepath.Join(dir, "agent.toml")
			for path, text := range map[string]string{file: test.module, cfg: policyKeys + test.keys} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got := wardlet(t.Context(), "policy", "inspect", file, "--config", cfg)
			if got = strings.NewReplacer(file, "FILE", cfg, "CONFIG").Replace(got); !strings.Contains(got, test.want) {
				t.Errorf("printed\n%s\nwant in it\n%s", got, test.want)
			}
		})
	}
}

func TestPolicyInspectOfAFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	golden(t, "policy-inspect-no-file", wardlet(t.Context(), "policy", "inspect", dir+"/none.wasm"), dir, "DIR")
	golden(t, "policy-inspect-directory", wardlet(t.Context(), "policy", "inspect", dir), dir, "DIR")
}

func TestPolicyInspectUsage(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"usage-policy-nothing":        {"policy"},
		"usage-policy-unknown":        {"policy", "inspec"},
		"usage-policy-inspect-none":   {"policy", "inspect"},
		"usage-policy-inspect-two":    {"policy", "inspect", "a.wasm", "b.wasm"},
		"usage-policy-inspect-output": {"policy", "inspect", "-o", "wide", "a.wasm"},
		"help-policy":                 {"policy", "--help"},
		"help-policy-inspect":         {"policy", "inspect", "--help"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, wardlet(t.Context(), args...))
		})
	}
}

// inspectInput runs `policy inspect -` with in as standard input.
func inspectInput(ctx context.Context, in io.Reader) (out string, err error) {
	var printed bytes.Buffer
	root := (&app{&cli.App{Out: &printed, ErrOut: io.Discard}}).root()
	root.SetIn(in)
	root.SetArgs([]string{"policy", "inspect", "-"})
	err = root.ExecuteContext(ctx)
	return printed.String(), err
}

func TestPolicyInspectReadsStandardInput(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.wasm")
	if err := os.WriteFile(file, []byte(plugin()), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := inspectInput(t.Context(), strings.NewReader(plugin()))
	if err != nil {
		t.Fatal(err)
	}
	if want := wardlet(t.Context(), "policy", "inspect", file); got+"--- exit status 0\n" != want {
		t.Errorf("printed\n%s\nwant, as of a file,\n%s", got, want)
	}
	_, err = inspectInput(t.Context(), strings.NewReader("x"))
	if want := `standard input is no WebAssembly module: it does not begin with \0asm`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// endless returns the beginning of a module, and then zeros without end. It counts the bytes.
type endless struct{ given int }

func (e *endless) Read(p []byte) (int, error) {
	clear(p)
	if e.given == 0 {
		copy(p, "\x00asm")
	}
	e.given += len(p)
	return len(p), nil
}

func TestPolicyInspectReadsNoMoreThanAModuleMayHave(t *testing.T) {
	t.Parallel()
	in := &endless{}
	_, err := inspectInput(t.Context(), in)
	if want := "standard input is too large: a module may have at most 4194304 bytes; name a configuration with a greater policy.module_bytes as --config"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if in.given > 4<<20+1 {
		t.Errorf("%d bytes were read", in.given)
	}
}

func TestPolicyInspectEndsWhenItIsInterrupted(t *testing.T) {
	t.Parallel()
	in, silent := io.Pipe()
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := inspectInput(ctx, in)
	if want := "standard input was not read to its end: context canceled"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
