package replay

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	w "github.com/wardlet/wardlet/test/wasmtest"
)

// The images for which the plugin that fragile returns fails.
const (
	imageTraps = "t"
	imageLoops = "ll"
)

// fragile returns a plugin that traps for images of one letter, loops for images of two letters,
// and allows all others.
func fragile() []byte {
	const length = w.Input + 8 + 4 + 5 + 4 + 1 // after headers, count, handle, length and tag
	m := w.Plugin(w.Path)
	m.Reads("object.spec.containers[*].image")
	m.Admit(
		w.I32Const(length), w.I32Load(0), w.I32Const(1), w.I32Eq, w.If(w.Unreachable),
		w.I32Const(length), w.I32Load(0), w.I32Const(2), w.I32Eq, w.If(w.Loop(w.Br(0))),
		w.I32Const(0),
	)
	return m.Bytes()
}

// example compiles an example plugin, which is written in Go.
func example(t *testing.T, name string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), name+".wasm")
	compile := exec.Command("go", "build", "-C", "../../plugins/examples", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file, "./"+name)
	compile.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	if text, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, text)
	}
	module, err := os.ReadFile(file)
	must(t, err)
	return module
}

// write writes a policy into a directory; keys are added after its digest.
func write(t *testing.T, dir, name string, module []byte, keys string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, name+".wasm"), module, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, name+".toml"), fmt.Appendf(nil,
		"api = \"wardlet.dev/v1\"\nname = %q\nmodule = \"%s.wasm\"\nsha256 = \"%x\"\n%s\n", name, name, sha256.Sum256(module), keys), 0o600))
}

const everyHook = `hooks = ["admit", "filter", "merge", "connect"]`

// operators writes the operator's policies: they draw random bits, read the node, change pods, and
// fail. Each number makes another set of them.
func operators(t *testing.T, dir string, number int) {
	t.Helper()
	write(t, dir, "draw", w.Drawing(), everyHook+"\nmode = \"audit\"\ncapabilities = [\"references.read\"]\n[settings]\nnumber = "+strconv.Itoa(number))
	write(t, dir, "fail", fragile(), fmt.Sprintf("hooks = [\"admit\"]\non_error = %q\n[limits]\nfuel = 20000\n[match]\nlabel_selector = \"fail\"",
		[]string{"hold", "allow", "last_verdict"}[number%3]))
	write(t, dir, "change", w.Patching(0, `[{"op":"add","path":"/metadata/labels/set","value":"`+strconv.Itoa(number)+`"}]`),
		"hooks = [\"admit\"]\nmutable_paths = [\"/metadata/labels\"]\n[match]\nconditions = [\"'change' in object.metadata.labels\"]")
	write(t, dir, "quota", example(t, "tenant-quota"), fmt.Sprintf("hooks = [\"admit\"]\ncapabilities = [\"node.read\"]\n[match]\nlabel_selector = \"see\"\n"+
		"[settings.quota.shop]\npods = %d", 4+number))
}
