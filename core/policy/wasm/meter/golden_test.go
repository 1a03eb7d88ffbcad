package meter

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	goflag "flag" // the package has a function flag
	"fmt"
	"hash"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest/generate"
	"github.com/wardlet/wardlet/test/wasmtest/worst"
)

var update = goflag.Bool("update", false, "write testdata/golden.txt anew: fuel on record no longer replays then")

// TestRewrite_outputStaysTheSame compares metered modules bit for bit with the output of
// earlier versions. Fuel is recorded with every decision, so with another output the replay
// of old records would differ.
func TestRewrite_outputStaysTheSame(t *testing.T) {
	t.Parallel()
	got := map[string]*golden{}
	add := func(group string, binary []byte) {
		m, err := module.Parse(binary, module.Caps{})
		if err != nil {
			return
		}
		if got[group] == nil {
			got[group] = &golden{sum: sha256.New()}
		}
		got[group].add(m)
	}
	for _, version := range []string{"v1", "v2"} {
		files, err := filepath.Glob(filepath.Join(specification(t), version, "testdata", "*.wasm"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files { // sorted
			binary, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, _, _ := strings.Cut(filepath.Base(file), ".")
			add("specification "+version+" "+name, binary)
		}
	}
	for _, length := range []int{100, 500, 3000} {
		for _, input := range randomBytes(200, length) {
			add(fmt.Sprint("generated ", length), generate.New(input, generate.Options{}).Binary)
		}
	}
	for _, family := range worst.All() {
		for _, size := range []int{1, 2} {
			add("worst: "+family.Name, family.Module(size))
		}
	}
	add("ranges", ranging(t))
	add("numbers", numbered())
	add("tables", tabled())
	add("costs", costly())
	compareGolden(t, got)
}

// golden counts and hashes the metered modules of a group.
type golden struct {
	modules int
	sum     hash.Hash
}

func (g *golden) add(m *module.Module) {
	g.modules++
	text := []byte("refused")
	if out, err := Rewrite(context.Background(), m, 0); err == nil {
		text = out.Binary
	}
	_, _ = g.sum.Write(append(binary.AppendUvarint(nil, uint64(len(text))), text...))
}

func compareGolden(t *testing.T, got map[string]*golden) {
	t.Helper()
	const path = "testdata/golden.txt"
	text, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	var lines []string
	for group, g := range got {
		lines = append(lines, fmt.Sprintf("%s: %d %x", group, g.modules, g.sum.Sum(nil)[:16]))
	}
	slices.Sort(lines)
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(want) != len(lines) {
		t.Fatalf("%d groups of modules, want %d", len(lines), len(want))
	}
	for i := range want {
		if lines[i] != want[i] {
			t.Errorf("metered modules differ:\n%s, want\n%s", lines[i], want[i])
		}
	}
}

// specification returns the directory of the specification's tests in wazero's module.
func specification(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatalf("find wazero's module: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "internal", "integration_test", "spectest")
}
