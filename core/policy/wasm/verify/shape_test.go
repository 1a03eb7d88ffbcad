package verify_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/policy/wasm/verify"
	"github.com/wardlet/wardlet/test/wasmtest"
)

func TestShapeSaysWhatWasFound(t *testing.T) {
	t.Parallel()
	small := "\x00\x0b"
	// It has two parameters and three variables; a block in a loop in an if, then another
	// loop; and at most two operands.
	large := "\x02\x01\x7f\x02\x7e" + "\x20\x00\x04\x40\x03\x40\x02\x40\x0b\x0b\x0b" + "\x03\x40\x0b" + "\x20\x00\x20\x01\x6a\x1a" + "\x0b"
	code := "\x02" + sized(small) + sized(large)
	binary := of(section(1, "\x02\x60\x00\x00\x60\x02\x7f\x7f\x00"), section(2, "\x01\x01a\x01b\x00\x01"), section(3, "\x02\x00\x01"), section(10, code))
	got, refused := check(t, binary, verify.Default())
	if len(refused) > 0 {
		t.Fatal(refused)
	}
	want := verify.Shape{
		Functions: 2, Loops: 2, CodeBytes: len(code), LargestBody: len(large),
		DeepestNesting: 3, MostLocals: 5, HighestStack: 2, LargestProduct: 4 * (5 + 3),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestShapeSaysWhetherThereAreFloatsAndVectors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		code            string
		floats, vectors bool
	}{
		"numbers":              {"\x41\x00\x1a", false, false},
		"a constant":           {"\x43\x00\x00\x00\x00\x1a", true, false},
		"a float that is read": {"\x41\x00\x2b\x03\x00\x1a", true, false},
		"a float made a number": {
			"\x00\xa8\x1a", true, false,
		},
		"the same, saturating":      {"\x00\xfc\x06\x1a", true, false},
		"a vector that is computed": {"\x00\xfd\x50\x1a", false, true},
		"a vector that is read":     {"\x41\x00\xfd\x00\x00\x00\x1a", false, true},
		"a vector's square root":    {"\x00\xfd\xe3\x01\x1a", false, true},
		"a range of memory":         {"\x41\x00\x41\x00\x41\x00\xfc\x0b\x00", false, false},
	} {
		got, refused := check(t, function("\x00"+test.code+"\x0b"), verify.Default())
		if len(refused) > 0 || got.Floats != test.floats || got.Vectors != test.vectors {
			t.Errorf("%s: floats %t, vectors %t, refused %q", name, got.Floats, got.Vectors, refused)
		}
	}
}

func TestHonestGuestsAreAccepted(t *testing.T) {
	t.Parallel()
	guest, err := buildGuest(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, binary := range map[string][]byte{
		"of Go":   guest,
		"by hand": wasmtest.Denying("object.spec.containers[*].image", "evil"),
	} {
		shape, refused := check(t, binary, verify.Default())
		t.Logf("%s: %d bytes, %+v", name, len(binary), shape)
		if len(refused) > 0 {
			t.Errorf("%s: %q", name, refused)
		}
	}
}

// buildGuest compiles the Go guest of package wasm's tests to WebAssembly.
func buildGuest(dir string) ([]byte, error) {
	file := filepath.Join(dir, "guest.wasm")
	compile := exec.Command("go", "build", "-C", "..", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file, "./testdata/guest")
	compile.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	if text, err := compile.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("build the guest: %w", err), errors.New(string(text)))
	}
	return os.ReadFile(file)
}
