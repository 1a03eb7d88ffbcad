package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// within bounds the whole demonstration.
const within = 170 * time.Second

// inside is the environment variable of the program when it runs in namespaces of its own.
// Its value is an empty directory for the program.
const inside = "WARDLET_DEMO_DIR"

func main() { os.Exit(mainCode()) }

func mainCode() int {
	wardlet := flag.String("wardlet", "build/wardlet", "the agent")
	tools := flag.String("tools", "build/tools", "the programs that tools/setup.sh conformance builds")
	flag.Parse()
	if os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "demo-controlplane: it starts real containers, which needs root: run it as root, or with sudo -E")
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if os.Getenv(inside) == "" {
		return again(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	d := &demo{began: time.Now(), dir: os.Getenv(inside)}
	var err error
	if d.wardlet, err = filepath.Abs(*wardlet); err == nil {
		d.tools, err = filepath.Abs(*tools)
	}
	if err == nil {
		err = d.run(ctx)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "demo-controlplane: %v\n", err)
		return 1
	}
	fmt.Printf("done in %s; nothing is left on the machine\n", time.Since(d.began).Round(time.Second))
	return 0
}

// again runs the program in a mount namespace and a network namespace of its own, and returns its
// exit status.
func again(ctx context.Context) int {
	status, err := isolated(ctx)
	if err != nil {
		fmt.Fprintf(os.Stderr, "demo-controlplane: %v\n", err)
		return max(status, 1)
	}
	return status
}

func isolated(ctx context.Context) (status int, err error) {
	dir, err := os.MkdirTemp("", "demo-controlplane-")
	if err != nil {
		return 1, err
	}
	// The contents were on a mount of the namespace.
	defer func() { err = errors.Join(err, os.Remove(dir)) }()
	command := exec.CommandContext(ctx, "/proc/self/exe", os.Args[1:]...)
	command.Env = append(os.Environ(), inside+"="+dir)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET, Setpgid: true}
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	err = command.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return max(ended.ExitCode(), 1), nil
	}
	return 0, err
}

// address is the node's address, in a network for this program alone.
const address = "10.99.0.1"

// cover covers the directories that kubeadm and etcd write to, and makes the node's network.
func (d *demo) cover(ctx context.Context) error {
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, "mode=0700"); err != nil {
		return fmt.Errorf("mount a tmpfs: %w", err)
	}
	for _, dir := range []string{"/etc", "/var/lib"} {
		at := filepath.Join(d.dir, strings.ReplaceAll(dir[1:], "/", "-"))
		for _, sub := range []string{at, at + "/upper", at + "/work"} {
			if err := os.Mkdir(sub, 0o755); err != nil {
				return err
			}
		}
		if err := syscall.Mount("overlay", dir, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work", dir, at, at)); err != nil {
			return fmt.Errorf("cover %s: %w", dir, err)
		}
	}
	for _, args := range []string{
		"link set lo up", "link add node type bridge", "address add " + address + "/24 dev node", "link set node up",
		"route add default via " + address,
	} {
		if err := call(ctx, "ip", strings.Fields(args)...); err != nil {
			return err
		}
	}
	return nil
}

// call runs a program; an error contains what it printed.
func call(ctx context.Context, program string, args ...string) error {
	_, err := ask(ctx, program, args...)
	return err
}

// ask runs a program and returns what it printed.
func ask(ctx context.Context, program string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return text, fmt.Errorf("%s %s: %w: %s", filepath.Base(program), strings.Join(args, " "), err, text)
	}
	return text, nil
}
