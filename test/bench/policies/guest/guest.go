package guest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// Guest is one plugin.
type Guest struct {
	// Language is go or c, Form how it gets at the pod: projection, lazy or
	// document.
	Language, Form string
}

// The languages and forms there are.
const (
	Go = "go"
	C  = "c"

	Projection = "projection"
	Lazy       = "lazy"
	Document   = "document"
)

// All are all guests.
func All() (all []Guest) {
	for _, language := range []string{Go, C} {
		for _, form := range []string{Projection, Lazy, Document} {
			all = append(all, Guest{language, form})
		}
	}
	return all
}

// String is the guest's name, in kebab case.
func (g Guest) String() string { return g.Language + "-" + g.Form }

// File is where Build puts the module.
func (g Guest) File(dir string) string { return filepath.Join(dir, g.String()+".wasm") }

// Read reads the module that Build put into dir.
func (g Guest) Read(dir string) ([]byte, error) { return os.ReadFile(g.File(dir)) }

// MemoryPages is how much memory the guest needs, in pages of 64 KiB.
func (g Guest) MemoryPages() uint32 {
	switch {
	case g.Language == C:
		return 4
	case g.Form == Document:
		return 128
	}
	return 64
}

// Build builds the guest to its file in dir. root is the directory of the
// project.
func (g Guest) Build(ctx context.Context, root, dir string) error {
	file, err := filepath.Abs(g.File(dir))
	if err != nil {
		return err
	}
	policies := filepath.Join(root, "test", "bench", "policies")
	if g.Language == Go {
		build := goBuild(ctx, file, "./guests/"+g.Form)
		build.Dir = policies
		return finish(build, g.String())
	}
	const sdk = "../../../../../plugins/sdk/c"
	build := exec.CommandContext(ctx, "clang-19", "--no-default-config", "@"+sdk+"/wasm.flags", "-Werror", "-I"+sdk, "-o", file, g.Form+".c")
	build.Dir = filepath.Join(policies, "guests", "c")
	return finish(build, g.String())
}

const variant = "(variant 0000)"

// Variant is a module that does the same as binary and is another one: a
// number of it, from 0 to 9999, stands in a text that it never says here.
func Variant(binary []byte, number int) ([]byte, error) {
	if number < 0 || number > 9999 {
		return nil, fmt.Errorf("variant %d: 0 to 9999", number)
	}
	if n := bytes.Count(binary, []byte(variant)); n != 1 {
		return nil, fmt.Errorf("the module has its variant in %d places, want one", n)
	}
	return bytes.Replace(binary, []byte(variant), []byte("(variant "+strconv.Itoa(10000 + number)[1:]+")"), 1), nil
}
