package guest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Example is the plugin of the examples that a whole plane is measured with. It
// is written in Go, with the SDK.
const Example = "allowed-images"

// ExampleFile is where BuildExample puts the module.
func ExampleFile(dir string) string { return filepath.Join(dir, Example+".wasm") }

// BuildExample builds the example to its file in dir. root is the directory of
// the project.
func BuildExample(ctx context.Context, root, dir string) error {
	file, err := filepath.Abs(ExampleFile(dir))
	if err != nil {
		return err
	}
	build := goBuild(ctx, file, "./"+Example)
	build.Dir = filepath.Join(root, "plugins", "examples")
	return finish(build, Example)
}

// goBuild compiles a guest in Go to a file.
func goBuild(ctx context.Context, file, source string) *exec.Cmd {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w",
		"-o", file, source)
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	return build
}

// finish runs a compiler.
func finish(build *exec.Cmd, name string) error {
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("guest %s is not built; tools/setup.sh guests installs what it needs: %w\n%s", name, err, text)
	}
	return nil
}
