package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// patience is how long the agent may take to end after SIGTERM, in which it finishes its calls to the runtime.
const patience = 15 * time.Second

// Start runs the agent. It does not wait until it answers.
func (n *Node) Start() error {
	if n.agent != nil && n.agent.ended() == nil {
		return errors.New("the agent runs already")
	}
	started, err := startProcess(n.log(), n.wardlet, "run", "--config", n.ConfigFile())
	if err != nil {
		return err
	}
	n.agent = started
	return nil
}

// PID is the agent's process.
func (n *Node) PID() int { return n.agent.command.Process.Pid }

// Stop ends the agent as an operator does, with SIGTERM. Its pods run on.
func (n *Node) Stop() error { return n.end(syscall.SIGTERM) }

// Kill ends the agent with SIGKILL.
func (n *Node) Kill() error { return n.end(syscall.SIGKILL) }

// end is nil only if the agent ran and ended by the signal.
func (n *Node) end(signal syscall.Signal) error {
	if err := n.agent.ended(); err != nil {
		return err
	}
	return n.agent.end(signal, patience)
}

// Wardlet runs the wardlet command on the agent's configuration and gives what it prints. An agent that ended by itself
// is ErrEnded.
func (n *Node) Wardlet(ctx context.Context, args ...string) (string, error) {
	if err := n.agent.ended(); err != nil {
		return "", err
	}
	command := exec.CommandContext(ctx, n.wardlet, append(args, "--config", n.ConfigFile())...)
	// A signal of the terminal is for whoever asks, who ends this by ctx.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var wrong strings.Builder
	command.Stderr = &wrong
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("wardlet %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(wrong.String()))
	}
	return string(out), nil
}

func (n *Node) log() string { return n.Path("agent.log") }

// LogTail is the end of the agent's log, in at most so many lines; an error is told in its place.
func (n *Node) LogTail(lines int) []string {
	data, err := os.ReadFile(n.log())
	if err != nil {
		return []string{err.Error()}
	}
	return tail(string(data), lines)
}

func tail(text string, lines int) []string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return all[max(0, len(all)-lines):]
}
