package privateruntime

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// importArchive loads the images of a docker archive under the names in it.
func importArchive(ctx context.Context, i instance, ctr, file string) error {
	command := exec.CommandContext(ctx, ctr, "--address", i.socket(), "--namespace", "k8s.io",
		"images", "import", "--local", "--snapshotter", i.Snapshotter, file)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		return fmt.Errorf("import %s: %w: %s", file, err, bytes.TrimSpace(output.Bytes()))
	}
	return nil
}

// importArchives imports all archives, one goroutine each, and waits until CRI lists every name,
// because CRI learns of imports by events.
func importArchives(ctx context.Context, i instance, ctr string, archives []archive, connection *grpc.ClientConn) error {
	failed := make([]error, len(archives))
	var imports sync.WaitGroup
	for at, archive := range archives {
		imports.Go(func() { failed[at] = importArchive(ctx, i, ctr, archive.File) })
	}
	imports.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	client := criapi.NewImageServiceClient(connection)
	return waitUntil(ctx, func() error {
		for _, archive := range archives {
			for _, name := range archive.Names {
				answer, err := client.ImageStatus(ctx, &criapi.ImageStatusRequest{Image: &criapi.ImageSpec{Image: name}})
				if err != nil {
					return fmt.Errorf("look for image %s: %w", name, err)
				}
				if answer.GetImage() == nil {
					return fmt.Errorf("image %s was imported, but CRI does not list it", name)
				}
			}
		}
		return nil
	})
}

// Registry is an image registry on 127.0.0.1 that this process started. The caller that started it
// must stop it. It runs in a process of its own, and Stop waits for that process.
type Registry struct {
	address string
	stop    func() error
}

// Login is the login that a registry requires; the zero value requires none.
type Login struct{ User, Password string }

// StartRegistry starts a registry with the test image and lets the runtime pull from it. The images
// are Image("web:1"), Image("web:2") and Image("test:1"), each with an image ID of its own.
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
	// If ctx ends before the address is read, killing the process closes the pipe, which ends the
	// read.
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

// Stop stops the registry and waits for it. Stopping it again is success.
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

// SetRegistry makes the runtime pull by plain HTTP from a registry at HOST:PORT.
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

// chooseSnapshotter tries an overlay mount in the directory, because a filesystem that is itself an
// overlay refuses it.
func chooseSnapshotter(dir string) (string, error) {
	trial := filepath.Join(dir, "overlay")
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		if err := os.MkdirAll(filepath.Join(trial, name), 0o700); err != nil {
			return "", fmt.Errorf("try an overlay mount: %w", err)
		}
	}
	merged := filepath.Join(trial, "merged")
	options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", trial)
	chosen := "native"
	if err := unix.Mount("overlay", merged, "overlay", 0, options); err == nil {
		chosen = "overlayfs"
		if err := unix.Unmount(merged, unix.MNT_DETACH); err != nil {
			return "", fmt.Errorf("undo the trial mount on %s: %w", merged, err)
		}
	}
	if err := os.RemoveAll(trial); err != nil {
		return "", fmt.Errorf("remove the trial mount's directory: %w", err)
	}
	return chosen, nil
}
