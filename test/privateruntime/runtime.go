package privateruntime

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
)

// Runtime is a runtime that this process started. Its methods must not be called by several
// goroutines at once, except those that only return its identity.
type Runtime struct {
	instance instance
	programs programs
	// daemon is the containerd that this process has started last.
	daemon *daemon
	// made are the traces of the runtime outside its directories, as found by Stop.
	made traces
	// before is the state of the machine before the first of the running runtimes.
	before machine
}

// Name returns the runtime's name.
func (r *Runtime) Name() string { return r.instance.Name }

// Endpoint returns the CRI endpoint, unix:///....
func (r *Runtime) Endpoint() string { return r.instance.endpoint() }

// Dir returns the directory that holds the runtime's images, snapshots and log.
func (r *Runtime) Dir() string { return r.instance.Dir }

// Subnet returns the subnet of the pods' addresses.
func (r *Runtime) Subnet() netip.Prefix { return r.instance.Subnet }

// Log returns the last lines of containerd's log.
func (r *Runtime) Log(lines int) string { return r.instance.logTail(lines) }

// Import loads the images of a docker archive, and waits until CRI lists names.
func (r *Runtime) Import(ctx context.Context, file string, names ...string) error {
	return r.instance.withConnection(func(connection *grpc.ClientConn) error {
		return importArchives(ctx, r.instance, r.programs.ctr, []archive{{File: file, Names: names}}, connection)
	})
}

// Kill kills containerd with SIGKILL, as in a crash. Pods keep running.
func (r *Runtime) Kill(ctx context.Context) error {
	running, err := r.instance.daemons()
	if err != nil {
		return err
	}
	return errors.Join(kill(ctx, running, 0), r.daemon.wait(ctx))
}

// Shutdown stops containerd in an orderly way, as in an upgrade. Pods keep running.
func (r *Runtime) Shutdown(ctx context.Context) error {
	running, err := r.instance.daemons()
	if err != nil {
		return err
	}
	return errors.Join(kill(ctx, running, stopPatience), r.daemon.wait(ctx))
}

// Resume starts containerd again after Kill or Shutdown, and returns when it is ready.
func (r *Runtime) Resume(ctx context.Context) error {
	running, err := r.instance.daemons()
	if err != nil {
		return err
	}
	if len(running) > 0 {
		return fmt.Errorf("resume runtime %s: %w", r.instance.Name, ErrRunning)
	}
	return r.run(ctx)
}

// Freeze stops containerd with SIGSTOP until Thaw: it does not answer, but its socket stays open.
func (r *Runtime) Freeze() error { return r.signal(unix.SIGSTOP) }

// Thaw continues a frozen containerd.
func (r *Runtime) Thaw() error { return r.signal(unix.SIGCONT) }

func (r *Runtime) signal(sig unix.Signal) error {
	running, err := r.instance.daemons()
	if err != nil {
		return err
	}
	return signalAll(running, sig)
}

// run starts containerd and waits until it can run pods.
func (r *Runtime) run(ctx context.Context) error {
	running, err := startDaemon(r.instance, r.programs)
	if err != nil {
		return err
	}
	r.daemon = running
	return r.instance.withConnection(func(connection *grpc.ClientConn) error {
		return waitReady(ctx, connection, running.ended)
	})
}

// Stop removes the runtime with everything it made. Stopping a runtime that is gone is success.
func (r *Runtime) Stop(ctx context.Context) error {
	made, err := down(ctx, r.instance.Name, false)
	r.made.add(made)
	return errors.Join(err, r.daemon.wait(ctx))
}

// Leftovers describes what is left of a stopped runtime; it should be empty.
func (r *Runtime) Leftovers() []string { return r.instance.leftovers(r.made, r.before) }
