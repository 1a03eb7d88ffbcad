package compile

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/tetratelabs/wazero"

	w "github.com/wardlet/wardlet/test/wasmtest"
)

// answering returns a module with data, a table, a global and functions of several types,
// whose function f returns n.
func answering(n int32) []byte {
	m := w.New()
	m.Memory(1)
	m.Data(100, "data")
	m.Global(w.I64, true, w.I64Const(7))
	m.Func([]w.Type{w.I64, w.F32}, []w.Type{w.F64}, nil, w.Unreachable)
	m.Export("f", m.Func(nil, []w.Type{w.I32}, nil, w.I32Const(n)))
	return m.Bytes()
}

func TestAShellHasAllOfItsModuleButTheCode(t *testing.T) {
	t.Parallel()
	module := answering(5)
	shell, err := shellOf(module, digestOf(module))
	check(t, err)
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	defer r.Close(context.Background())
	whole, err := r.CompileModule(t.Context(), module)
	check(t, err)
	empty, err := r.CompileModule(t.Context(), shell)
	check(t, err)
	if a, b := len(whole.ExportedFunctions()), len(empty.ExportedFunctions()); a != b {
		t.Errorf("%d functions, in the shell %d", a, b)
	}
	if !bytes.Contains(shell, []byte("data")) {
		t.Error("without data")
	}
	i, err := r.InstantiateModule(t.Context(), empty, wazero.NewModuleConfig())
	check(t, err)
	if _, err := i.ExportedFunction("f").Call(t.Context()); err == nil {
		t.Error("the shell's own code runs")
	}
}

// TestModulesThatDifferInTheirCodeOnlyKeepTheirOwn checks that modules that differ only in
// their code are not confused: wazero identifies modules by their bytes.
func TestModulesThatDifferInTheirCodeOnlyKeepTheirOwn(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache")
	a, b := acquire(t, f, answering(1)), acquire(t, f, answering(2))
	defer a.Release()
	defer b.Release()
	answers(t, f, a, 1)
	answers(t, f, b, 2)
}

func TestNoInstructionOfAModuleIsKeptInItsShell(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache")
	module := broad(1 << 20)
	acquire(t, f, module).Release()
	dir, _ := stored(t, f, module)
	info, err := os.Stat(filepath.Join(dir, shellName))
	check(t, err)
	if info.Size() > int64(len(module)/10) {
		t.Errorf("the shell of a module of %d bytes has %d", len(module), info.Size())
	}
}

func TestWhatIsLoadedNeedsNoModule(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache")
	acquire(t, f, answering(3)).Release()
	code, err := f.Acquire(t.Context(), "", Source{digestOf(answering(3)), func() ([]byte, error) {
		t.Error("the module is asked for")
		return nil, errNotWhole
	}})
	check(t, err)
	defer code.Release()
	answers(t, f, code, 3)
}

func FuzzShell(f *testing.F) {
	for _, seed := range [][]byte{nil, []byte("\x00asm\x01\x00\x00\x00"), answering(1), broad(100)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, module []byte) {
		shell, err := shellOf(module, Digest{1})
		if err == nil && len(shell) > len(module)*5+64 {
			t.Errorf("a shell of %d bytes of a module of %d", len(shell), len(module))
		}
	})
}
