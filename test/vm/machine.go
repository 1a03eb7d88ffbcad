//go:build vm

package vm

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

const (
	// bootTimeout limits the time from the start of the kernel until scripts run.
	bootTimeout = 10 * time.Minute
	// scriptTimeout limits the time of a script.
	scriptTimeout = 4 * time.Minute
)

// machine is a virtual machine.
type machine struct {
	// dir has the changes of the machine's disk, and the directory that the machine sees as /host.
	dir string
	// tap is a network device that the machine is connected to, and data a file that is its second
	// disk. They are empty for none.
	tap, data string
	// kernel is nil while the machine is off.
	kernel *exec.Cmd
	// ended is closed when the kernel has ended.
	ended chan struct{}
	boots int
	ran   int
}

// build is the directory of what the project builds.
var build = filepath.Join("..", "..", "build")

// newMachine boots a machine whose disk has no pods, and installs the agent as a service, with the
// agent.toml that the project ships. changes are pairs of a line there and what takes its place.
func newMachine(t *testing.T, changes ...string) *machine {
	t.Helper()
	m := &machine{dir: t.TempDir()}
	m.install(t, changes...)
	return m
}

// install boots the machine for the first time, and installs the agent.
func (m *machine) install(t *testing.T, changes ...string) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() && m.kernel != nil {
			t.Logf("the agent's log:\n%s", m.try("journalctl -u wardlet -u kubelet --no-pager -o cat | tail -n 60"))
		}
		m.cutPower()
	})
	if err := os.Mkdir(m.host(""), 0o700); err != nil {
		t.Fatal(err)
	}
	m.configure(t, changes...)
	m.put(t, "wardlet.service", read(t, filepath.Join("..", "..", "packaging", "wardlet.service")), 0o644)
	m.put(t, "wardlet", read(t, filepath.Join(build, "wardlet")), 0o755)
	m.boot(t)
	m.run(t, `set -e
install -m 0755 /host/wardlet /usr/local/bin/wardlet
install -d -m 0755 /etc/wardlet /etc/wardlet/manifests
install -m 0600 /host/agent.toml /etc/wardlet/agent.toml
install -m 0644 /host/wardlet.service /etc/systemd/system/wardlet.service
systemctl daemon-reload
systemctl enable --now wardlet
sync`)
}

// configure puts an agent.toml for the machine into /host: the one that the project ships, with
// changes.
func (m *machine) configure(t *testing.T, changes ...string) {
	t.Helper()
	config := read(t, filepath.Join("..", "..", "agent.toml"))
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(config, "\n"+changes[i]+"\n") {
			t.Fatalf("agent.toml has no line %q", changes[i])
		}
		config = strings.Replace(config, "\n"+changes[i]+"\n", "\n"+changes[i+1]+"\n", 1)
	}
	m.put(t, "agent.toml", config, 0o600)
}

// host returns the path of a file that the machine sees in /host.
func (m *machine) host(name string) string { return filepath.Join(m.dir, "host", name) }

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; tools/setup.sh vm and make build make it", err)
	}
	return string(data)
}

// put writes a file that the machine sees in /host.
func (m *machine) put(t *testing.T, name, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(m.host(name), []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// boot switches the machine on, and waits until it runs scripts.
func (m *machine) boot(t *testing.T) {
	t.Helper()
	m.boots++
	console, err := os.Create(filepath.Join(m.dir, "console"))
	if err != nil {
		t.Fatal(err)
	}
	defer console.Close()
	m.kernel = kernels[*kernel](t, m)
	m.kernel.Stdout, m.kernel.Stderr, m.kernel.Env = console, console, append(os.Environ(), "TMPDIR=/dev/shm")
	m.kernel.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	began := time.Now()
	if err := m.kernel.Start(); err != nil {
		t.Fatalf("start the machine: %v; tools/setup.sh vm makes it", err)
	}
	m.ended = make(chan struct{})
	go func(kernel *exec.Cmd, ended chan<- struct{}) {
		_ = kernel.Wait() // its status says nothing: it is killed, or it powers off
		close(ended)
	}(m.kernel, m.ended)
	if _, err := m.script("true", bootTimeout); err != nil {
		text, _ := os.ReadFile(console.Name())
		t.Fatalf("the machine does not run scripts: %v; its console:\n%s", err, text)
	}
	t.Logf("boot %d took %s", m.boots, time.Since(began).Round(time.Second))
}

// cutPower ends the machine at once: what its kernel has not handed to the disk is lost.
func (m *machine) cutPower() {
	if m.kernel == nil {
		return
	}
	session := m.kernel.Process.Pid
	_ = m.kernel.Process.Kill() // it may have ended
	for _, pid := range processesOf(session) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-m.ended
	m.kernel = nil
	leftover, _ := filepath.Glob(m.host("*.run"))
	for _, path := range leftover {
		_ = os.Remove(path)
	}
}

// processesOf returns the processes of a session: the kernel has one for each address space.
func processesOf(session int) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range all {
		text, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(text), ") ")
		// The state, the parent, the group and the session.
		if fields := strings.Fields(rest); len(fields) > 3 && fields[3] == strconv.Itoa(session) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != session {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// reboot shuts the machine down and boots it again.
func (m *machine) reboot(t *testing.T) {
	t.Helper()
	m.try("sync; systemctl --no-block poweroff")
	select {
	case <-m.ended:
	case <-time.After(scriptTimeout):
		t.Fatal("the machine does not shut down")
	}
	m.cutPower()
	m.boot(t)
}

// script runs a script of bash and returns its output.
func (m *machine) script(text string, timeout time.Duration) (string, error) {
	m.ran++
	path := m.host(fmt.Sprintf("%d-%d", m.boots, m.ran))
	if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path+".run")); err != nil {
		return "", err
	}
	for end := time.Now().Add(timeout); ; time.Sleep(50 * time.Millisecond) {
		status, err := os.ReadFile(path + ".rc")
		output, _ := os.ReadFile(path + ".out")
		switch {
		case err == nil && strings.TrimSpace(string(status)) == "0":
			return string(output), nil
		case err == nil:
			return string(output), fmt.Errorf("exit status %s: %s", strings.TrimSpace(string(status)), output)
		case time.Now().After(end):
			return string(output), fmt.Errorf("it has not ended in %s: %s", timeout, output)
		}
		select {
		case <-m.ended:
			return "", errors.New("the machine has ended")
		default:
		}
	}
}

// run runs a script that must succeed, and returns its output.
func (m *machine) run(t *testing.T, text string) string {
	t.Helper()
	output, err := m.script(text, scriptTimeout)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return output
}

// try runs a script that may fail.
func (m *machine) try(text string) string {
	output, _ := m.script(text, scriptTimeout)
	return output
}

// eventually repeats a script until check returns nil for its output.
func (m *machine) eventually(t *testing.T, what, text string, check func(output string) error) {
	t.Helper()
	poll(t, what, func() error { return check(m.try(text)) })
}

// poll repeats check until it returns nil. Starts of pods take minutes on this machine.
func poll(t *testing.T, what string, check func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(12 * time.Minute); time.Now().Before(end); time.Sleep(time.Second) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatalf("%s: %v", what, err)
}

// manifest writes a manifest.
func (m *machine) manifest(t *testing.T, name, content string) {
	t.Helper()
	m.put(t, name+".yaml", content, 0o644)
	m.run(t, "cp /host/"+name+".yaml /etc/wardlet/manifests/.new && mv /etc/wardlet/manifests/.new /etc/wardlet/manifests/"+name+".yaml")
}

// pods returns the pods that the agent shows, by name in their manifest.
func (m *machine) pods() (map[string]*v1.Pod, error) {
	output, err := m.script("wardlet get pods -o json", scriptTimeout)
	if err != nil {
		return nil, err
	}
	var list v1.PodList
	if err := json.Unmarshal([]byte(output), &list); err != nil {
		return nil, fmt.Errorf("%w: %s", err, output)
	}
	pods := map[string]*v1.Pod{}
	for i := range list.Items {
		p := &list.Items[i]
		pods[strings.TrimSuffix(p.Name, "-vm")] = p
	}
	return pods, nil
}

// wait waits until check returns nil for the pods that the agent shows.
func (m *machine) wait(t *testing.T, what string, check func(pods map[string]*v1.Pod) error) map[string]*v1.Pod {
	t.Helper()
	var last map[string]*v1.Pod
	poll(t, what, func() error {
		pods, err := m.pods()
		if err != nil {
			return err
		}
		last = pods
		return check(pods)
	})
	return last
}

// running waits until pods run.
func (m *machine) running(t *testing.T, names ...string) map[string]*v1.Pod {
	t.Helper()
	return m.wait(t, "running pods", func(pods map[string]*v1.Pod) error {
		for _, name := range names {
			p := pods[name]
			if p == nil {
				return fmt.Errorf("no pod %s", name)
			}
			if p.Status.Phase != v1.PodRunning || len(p.Status.ContainerStatuses) == 0 || !p.Status.ContainerStatuses[0].Ready {
				return fmt.Errorf("pod %s: %s %s %s", name, p.Status.Phase, p.Status.Reason, p.Status.Message)
			}
		}
		return nil
	})
}
