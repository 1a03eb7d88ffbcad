package privateruntime

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Registry is an image registry on 127.0.0.1 that this process started. The caller that started it stops it. It is a
// process of its own, which Registry's Stop waits for.
type Registry struct {
	address string
	stop    func() error
}

// Login is what a registry demands; the zero value demands nothing.
type Login struct{ User, Password string }

// StartRegistry serves the test image for pulls and lets the runtime pull from it. The images are Image("web:1"),
// Image("web:2") and Image("test:1"), each with an image ID of its own.
func (r *Runtime) StartRegistry(ctx context.Context, login Login) (*Registry, error) {
	command := exec.Command(r.programs.images, "serve-registry", "-addr", "127.0.0.1:0",
		"-images", filepath.Join(r.programs.repository, "build", "images"),
		"-user", login.User, "-password", login.Password, "-label", r.instance.network())
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start a registry: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start a registry: %w; %s", err, advice)
	}
	// A context that ends while the address is awaited closes the pipe, and so ends the read.
	stop := context.AfterFunc(ctx, func() { _ = command.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	stop()
	started := &Registry{strings.TrimSpace(line), sync.OnceValue(func() error { return stopRegistry(command) })}
	if err == nil {
		err = r.SetRegistry(started.address)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a registry: %w", err), started.Stop())
	}
	return started, nil
}

// Address returns HOST:PORT.
func (g *Registry) Address() string { return g.address }

// Image returns the full name of one of the registry's images.
func (g *Registry) Image(nameAndTag string) string { return g.address + "/pull/" + nameAndTag }

// Stop ends the registry and waits for it. Stopping it again is success.
func (g *Registry) Stop() error { return g.stop() }

func stopRegistry(command *exec.Cmd) error {
	if err := command.Process.Signal(unix.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the registry: %w", err)
	}
	var exit *exec.ExitError
	if err := command.Wait(); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("stop the registry: %w", err)
	}
	return nil
}

// SetRegistry makes the runtime pull from a registry at HOST:PORT by plain HTTP.
func (r *Runtime) SetRegistry(address string) error {
	dir := filepath.Join(r.instance.registryHosts(), address)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("set registry %s: %w", address, err)
	}
	hosts := fmt.Sprintf("server = \"http://%[1]s\"\n\n[host.\"http://%[1]s\"]\n  capabilities = [\"pull\", \"resolve\"]\n", address)
	if err := os.WriteFile(filepath.Join(dir, "hosts.toml"), []byte(hosts), 0o600); err != nil {
		return fmt.Errorf("set registry %s: %w", address, err)
	}
	return nil
}
