//go:build vm

package vm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

// editor edits manifests again and again, in the three ways of editors, and writes nothing through to
// the disk. FIRST is the number of the first edit.
const editor = `cat >/root/editor <<'END'
M=/etc/wardlet/manifests n=$1
pod() { printf 'apiVersion: v1\nkind: Pod\nmetadata: {name: p%s}\nspec:\n  terminationGracePeriodSeconds: 1\n  containers:\n  - name: main\n    image: registry.wardlet.test/test:1\n    imagePullPolicy: Never\n    args: [sleep]\n    env: [{name: V, value: "%s"}]\n' $1 $2; }
while :; do
	n=$((n+1)); i=$((n % 4)); f=$M/p$i.yaml
	case $((n % 3)) in
	0) pod $i $n >$M/.new; mv $M/.new $f ;;
	1) pod $i $n >$f ;;
	2) rm -f $f; sleep 1; pod $i $n >$f ;;
	esac
	sleep 3
done
END
setsid nohup bash /root/editor FIRST >/dev/null 2>&1 & echo`

const (
	// wanted prints the pods of the manifests, "pN V". A file that the power cut has left empty prints
	// "pN kept": the last version that the agent has read runs on.
	wanted = `cd /etc/wardlet/manifests; for f in p*.yaml; do [ -s $f ] || { echo "${f%.yaml} kept"; continue; }; n=$(sed -n 's/.*metadata: {name: \(p[0-9]\)}.*/\1/p' $f); v=$(sed -n 's/.*value: "\([0-9]*\)".*/\1/p' $f); [ -z "$n$v" ] || echo "$n $v"; done`
	// tasks prints in the same way the pods whose processes run, as containerd alone has them.
	tasks = `for p in $(ctr -n k8s.io task ls | awk '$3=="RUNNING"{print $2}'); do tr '\0' '\n' </proc/$p/environ 2>/dev/null | grep -E '^(V|HOSTNAME)=' | sort | tr '\n' ' '; echo; done | sed -n 's/HOSTNAME=\(p[0-9]\)[^ ]* V=\([0-9]*\).*/\1 \2/p'`
)

// sorted returns lines of two words in order.
func sorted(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	sort.Strings(lines)
	return strings.Join(lines, ", ")
}

// missing returns what differs between the pods of the manifests and those that run, as wanted and
// tasks print them; empty if nothing does.
func missing(files, processes string) string {
	want, have := sorted(files), sorted(processes)
	for line := range strings.SplitSeq(want, ", ") {
		if name, kept := strings.CutSuffix(line, " kept"); kept {
			have = regexp.MustCompile(name+` \d+`).ReplaceAllString(have, line)
		}
	}
	if want == have {
		return ""
	}
	return fmt.Sprintf("files [%s], processes [%s]", want, have)
}

// TestPods_afterPowerCuts: power is cut while manifests are edited. Each time the node comes back with
// exactly the pods that the files on the disk describe, or for a file without content, which it kept
// before: none is lost, none runs twice.
func TestPods_afterPowerCuts(t *testing.T) {
	m := newMachine(t)
	for i := range 4 {
		name := fmt.Sprint("p", i)
		m.manifest(t, name, podManifest(name, "sleep", `env: [{name: V, value: "0"}]`))
	}
	m.running(t, "p0", "p1", "p2", "p3")
	m.run(t, "sync")
	for cut := range *cuts {
		m.run(t, strings.Replace(editor, "FIRST", strconv.Itoa((cut+1)*1000), 1))
		time.Sleep(time.Duration(8+(cut*7)%15) * time.Second)
		m.cutPower()
		m.boot(t)
		files := sorted(m.run(t, wanted))
		began := time.Now()
		m.eventually(t, fmt.Sprintf("cut %d: pods as in the files", cut+1), wanted+"; echo =; "+tasks, func(output string) error {
			files, processes, _ := strings.Cut(output, "=\n")
			if differs := missing(files, processes); differs != "" {
				return errors.New(differs)
			}
			return nil
		})
		pods := m.wait(t, "the agent's view", func(pods map[string]*v1.Pod) error {
			running := 0
			for _, p := range pods {
				if p.Status.Phase == v1.PodRunning && p.DeletionTimestamp == nil {
					running++
				}
			}
			if running != strings.Count(files, ",")+1 {
				return fmt.Errorf("%d pods run, files: %s", running, files)
			}
			return nil
		})
		t.Logf("cut %d: %d pods as in the files after %s: %s", cut+1, len(pods), time.Since(began).Round(time.Second), files)
		if left := m.try("find /var/lib/wardlet/state/quarantine -type f 2>/dev/null"); left != "" {
			t.Errorf("files of the state are damaged: %s", left)
		}
	}
}

// rebooted is the number of pods of TestPods_afterAReboot.
const rebooted = 20

// TestPods_afterAReboot: static pods run again after a reboot, in at most one and a half times what
// the same calls to the runtime take there without an agent.
func TestPods_afterAReboot(t *testing.T) {
	m := newMachine(t)
	floor := m.direct(t, rebooted)
	var names, manifests []string
	for i := range rebooted {
		names = append(names, fmt.Sprint("p", i))
		manifests = append(manifests, podManifest(names[i], "sleep"))
	}
	m.manifest(t, "pods", strings.Join(manifests, "---\n"))
	before := m.running(t, names...)
	m.reboot(t)
	after := m.wait(t, "pods after the reboot", func(pods map[string]*v1.Pod) error {
		for _, name := range names {
			p := pods[name]
			if p == nil || p.Status.Phase != v1.PodRunning || p.Status.ContainerStatuses[0].RestartCount != 1 || !p.Status.ContainerStatuses[0].Ready {
				return fmt.Errorf("pod %s: %+v", name, p)
			}
		}
		return nil
	})
	for _, name := range names {
		if before[name].UID != after[name].UID {
			t.Errorf("pod %s has another UID", name)
		}
	}
	m.compareStarts(t, "wardlet", after, floor)
}

// compareStarts compares how long after the start of the agent's unit the last container has started
// with how long the calls to the runtime take alone, of which one and a half times are allowed.
func (m *machine) compareStarts(t *testing.T, unit string, pods map[string]*v1.Pod, floor time.Duration) {
	t.Helper()
	// The time begins with the agent's process, and is known to the second.
	text := strings.TrimSpace(m.run(t, "date -d \"$(systemctl show -P ExecMainStartTimestamp "+unit+")\" +%s"))
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var starts []time.Duration
	for _, p := range pods {
		starts = append(starts, p.Status.ContainerStatuses[0].State.Running.StartedAt.Sub(time.Unix(seconds, 0)))
	}
	slices.Sort(starts)
	took := starts[len(starts)-1]
	t.Logf("%d pods run %s after the agent has started; the calls alone take %s; the starts: %v", len(pods), took, floor, starts)
	t.Logf("the boot: %s", m.try("systemd-analyze blame --no-pager | head -n 12"))
	if took > floor*3/2 {
		t.Errorf("that is more than 1.5 times as long")
	}
}

// direct returns how long the calls to the runtime take which start so many pods again after a
// reboot, without an agent: the sandboxes from before the reboot are stopped, and new ones run.
func (m *machine) direct(t *testing.T, pods int) time.Duration {
	t.Helper()
	program := m.host("direct")
	compile := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./direct")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	m.run(t, "systemctl disable wardlet")
	var output string
	for range 2 {
		m.reboot(t)
		m.run(t, "until systemctl is-active containerd; do sleep 1; done")
		var err error
		output, err = m.script(fmt.Sprintf("/host/direct /run/containerd/containerd.sock %d registry.wardlet.test/test:1 5", pods), 5*scriptTimeout)
		if err != nil {
			t.Fatal(err)
		}
	}
	took, err := time.ParseDuration(strings.TrimSpace(output) + "s")
	if err != nil {
		t.Fatal(err)
	}
	m.run(t, "systemctl enable --now wardlet")
	return took
}
