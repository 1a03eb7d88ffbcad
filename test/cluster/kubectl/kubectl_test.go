//go:build e2e

package kubectl

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// workload returns the manifest of a Deployment or DaemonSet whose containers run a script.
func workload(kind, name, script string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: %s
metadata: {name: %s}
spec:
  selector: {matchLabels: {app: %s}}
  template:
    metadata: {labels: {app: %s}}
    spec:
      terminationGracePeriodSeconds: 5
      containers:
      - {name: main, image: %q, command: [sh, -c, %q]}
`, kind, name, name, name, busybox, script)
}

// endless is a script that runs until it receives SIGTERM, and then exits at once.
const endless = "trap 'exit 0' TERM; while :; do sleep 1 & wait $!; done"

// settled waits until the rollout of a Deployment or DaemonSet is complete.
func (s *space) settled(what string) {
	s.Helper()
	s.kubectl("rollout", "status", what, "--timeout=120s")
}

// count returns how many pods there are, including pods that terminate.
func (s *space) count(args ...string) int {
	s.Helper()
	return strings.Count(s.kubectl(append([]string{"get", "pods", "-o", "name"}, args...)...), "\n")
}

func (s *space) waitCount(want int) {
	s.Helper()
	s.eventually(fmt.Sprintf("there are %d pods", want), func() error {
		if got := s.count(); got != want {
			return fmt.Errorf("there are %d", got)
		}
		return nil
	})
}

func TestDeployment(t *testing.T) {
	s := newSpace(t)
	s.kubectl("create", "deployment", "web", "--image="+busybox, "--replicas=2", "--", "sh", "-c", endless)
	s.kill()
	s.settled("deployment/web")
	before := s.kubectl("get", "pods", "-o", "name")

	s.kubectl("set", "env", "deployment/web", "VERSION=2")
	s.kill()
	s.settled("deployment/web")
	s.waitCount(2)
	for name := range strings.FieldsSeq(before) {
		if _, err := s.try("", "get", name); err == nil {
			t.Errorf("%s of before the rollout is still there", name)
		}
	}
	s.kubectl("delete", "deployment", "web")
	s.kill()
	s.waitCount(0)
}

func TestScale(t *testing.T) {
	s := newSpace(t)
	s.apply(workload("Deployment", "web", endless))
	s.settled("deployment/web")
	s.kubectl("scale", "deployment/web", "--replicas=20")
	s.kill()
	s.settled("deployment/web")
	s.kubectl("scale", "deployment/web", "--replicas=0")
	s.kill()
	s.waitCount(0)
	s.kubectl("scale", "deployment/web", "--replicas=20")
	s.settled("deployment/web")
	s.kubectl("scale", "deployment/web", "--replicas=0")
	s.waitCount(0)
}

func TestLogs_follow(t *testing.T) {
	s := newSpace(t)
	s.kubectl("run", "counter", "--image="+busybox, "--restart=Never", "--", "sh", "-c", "i=0; while [ $i -lt 80 ]; do echo $i; i=$((i+1)); sleep 0.1; done")
	s.kubectl("wait", "--for=condition=Ready", "pod/counter", "--timeout=60s")
	follow := func(stop int) (last int) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		cmd := cluster.Command(ctx, "logs", "-f", "counter", "-n", s.name)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = cmd.Wait() }() // the kill of the agent cuts its connection
		last = -1
		for lines := bufio.NewScanner(out); lines.Scan(); {
			n, err := strconv.Atoi(lines.Text())
			if err != nil || n != last+1 {
				t.Errorf("after line %d comes %q", last, lines.Text())
			}
			if last = n; n == stop {
				s.kill()
			}
		}
		return last
	}
	follow(20)
	if last := follow(-1); last != 79 {
		t.Errorf("the last line that is followed after the restart is %d, want 79", last)
	}
	s.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/counter", "--timeout=60s")
	if restarts := s.kubectl("get", "pod", "counter", "-o", "jsonpath={.status.containerStatuses[0].restartCount}"); restarts != "0" {
		t.Errorf("restarts: %s", restarts)
	}
}

func TestExec(t *testing.T) {
	s := newSpace(t)
	s.kubectl("run", "shell", "--image="+busybox, "--restart=Never", "--", "sh", "-c", endless)
	s.kubectl("wait", "--for=condition=Ready", "pod/shell", "--timeout=60s")
	container := func() string {
		return s.kubectl("get", "pod", "shell", "-o", "jsonpath={.status.containerStatuses[0].containerID}")
	}
	before := container()

	shell := []string{"exec", "-it", "shell", "--", "sh"}
	screen := s.session([][2]string{{"#", "stty size; echo one$((1+1))"}, {"one2", ""}}, shell...)
	if !strings.Contains(screen, "33 77") {
		t.Errorf("the terminal has another size than 33 77: %q", screen)
	}
	s.eventually("the agent knows the pod again", func() error { // a kubelet is Ready before it has the pod
		_, err := s.try("", "exec", "shell", "--", "true")
		return err
	})
	screen = s.session([][2]string{{"#", "echo two$((1+1)); exit"}}, shell...)
	if !strings.Contains(screen, "two2") {
		t.Errorf("after the restart of the agent: %q", screen)
	}
	out, err := s.try("hello\n", "exec", "-i", "shell", "--", "sh", "-c", "cat; echo oh >&2; exit 7")
	if out != "hello\n" || err == nil || !strings.Contains(err.Error(), "exit status 7") || !strings.Contains(err.Error(), "oh") {
		t.Errorf("exec with input: %q, %v", out, err)
	}
	if after := container(); after != before {
		t.Errorf("the container is %s, before the kill %s", after, before)
	}
}

func TestDelete_withGrace(t *testing.T) {
	s := newSpace(t)
	s.kubectl("run", "slow", "--image="+busybox, "--restart=Never", "--", "sh", "-c", "trap 'sleep 4; exit 0' TERM; while :; do sleep 1 & wait $!; done")
	s.kubectl("run", "deaf", "--image="+busybox, "--restart=Never", "--", "sh", "-c", "trap '' TERM; while :; do sleep 1; done")
	s.kubectl("wait", "--for=condition=Ready", "pod/slow", "pod/deaf", "--timeout=60s")
	began := time.Now()
	s.kubectl("delete", "pod", "slow", "deaf", "--grace-period=8", "--wait=false")
	time.Sleep(time.Second)
	s.kill()
	gone := map[string]time.Duration{}
	s.eventually("both are gone", func() error {
		for _, name := range []string{"slow", "deaf"} {
			if _, err := s.try("", "get", "pod", name); err != nil && gone[name] == 0 {
				gone[name] = time.Since(began)
			}
		}
		if len(gone) < 2 {
			return fmt.Errorf("gone are %v", gone)
		}
		return nil
	})
	// A pod that ignores SIGTERM gets its whole grace period: the restarted agent continues with the
	// rest of it. A pod that exits by itself does not use it.
	if gone["slow"] < 3*time.Second || gone["slow"] > 20*time.Second || gone["deaf"] < 7*time.Second || gone["deaf"] > 25*time.Second {
		t.Errorf("gone after %v", gone)
	}
}

func TestJob(t *testing.T) {
	s := newSpace(t)
	s.apply(fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata: {name: sums}
spec:
  completions: 4
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: %q, command: [sh, -c, "sleep 2; echo done"]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: fails}
spec:
  backoffLimit: 1
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: %q, command: [sh, -c, "exit 3"]}
`, busybox, busybox))
	s.eventually("the first pods of the Job run", func() error {
		if got := s.kubectl("get", "pods", "-l", "job-name=sums", "-o", "jsonpath={.items[*].status.phase}"); !strings.Contains(got, "Running") {
			return fmt.Errorf("phases: %q", got)
		}
		return nil
	})
	s.kill()
	s.kubectl("wait", "--for=condition=complete", "job/sums", "--timeout=120s")
	s.kubectl("wait", "--for=condition=failed", "job/fails", "--timeout=120s")
	if got := s.kubectl("get", "job", "sums", "-o", "jsonpath={.status.succeeded} {.status.failed}"); strings.TrimSpace(got) != "4" {
		t.Errorf("of the Job succeeded and failed: %q, want 4 and none", got)
	}
	if got := s.kubectl("get", "pods", "-l", "job-name=fails", "-o", "jsonpath={.items[*].status.containerStatuses[0].state.terminated.exitCode}"); got != "3 3" {
		t.Errorf("exit codes of the Job that fails: %q, want 3 3", got)
	}
	s.kubectl("delete", "jobs", "--all")
	s.waitCount(0)
}

func TestDaemonSet(t *testing.T) {
	s := newSpace(t)
	s.apply(workload("DaemonSet", "agent", endless))
	s.kill()
	s.settled("daemonset/agent")
	s.kubectl("set", "env", "daemonset/agent", "VERSION=2")
	s.kill()
	s.settled("daemonset/agent")
	s.kubectl("delete", "daemonset", "agent")
	s.kill()
	s.waitCount(0)
}

func TestDrain(t *testing.T) {
	s := newSpace(t)
	node := cluster.Env["NODE_NAME"]
	s.apply(workload("Deployment", "web", endless))
	s.apply(workload("DaemonSet", "agent", endless))
	s.kubectl("scale", "deployment/web", "--replicas=3")
	s.settled("deployment/web")
	s.settled("daemonset/agent")
	daemon := s.kubectl("get", "pods", "-l", "app=agent", "-o", "name")

	s.kubectl("cordon", node)
	drained := make(chan error, 1)
	go func() {
		_, err := cluster.Kubectl(t.Context(), "drain", node, "--ignore-daemonsets", "--timeout=100s", "--pod-selector=app=web")
		drained <- err
	}()
	time.Sleep(500 * time.Millisecond)
	s.kill()
	if err := <-drained; err != nil {
		t.Error(err)
	}
	s.eventually("three new pods are pending", func() error {
		got := s.kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].status.phase}")
		if strings.Count(got, "Pending") != 3 || strings.Count(got, " ") != 2 {
			return fmt.Errorf("phases: %q", got)
		}
		return nil
	})
	if got := s.kubectl("get", "node", node, "-o", "jsonpath={.spec.unschedulable}"); got != "true" {
		t.Errorf("unschedulable: %q after the restart of the agent", got)
	}
	s.kubectl("uncordon", node)
	s.settled("deployment/web")
	if got := s.kubectl("get", "pods", "-l", "app=agent", "-o", "name"); got != daemon {
		t.Errorf("the pod of the DaemonSet is %q, before %q", got, daemon)
	}
}

// A controller makes a new pod for each pod that policy denies. The denials are delayed more and
// more, so that there are few, and the status says why.
func TestDeployment_forbiddenImage(t *testing.T) {
	if *kubelet {
		t.Skip("a kubelet has no policies")
	}
	s := newSpace(t)
	s.kubectl("create", "deployment", "web", "--image=forbidden.example/web:1")
	s.eventually("a pod says why it does not run", func() error {
		out := s.kubectl("describe", "pods")
		for _, want := range []string{"ForbiddenImage", "images of forbidden.example are not allowed here"} {
			if !strings.Contains(out, want) {
				return fmt.Errorf("kubectl describe pod does not say %q", want)
			}
		}
		return nil
	})
	time.Sleep(*loop)
	// The delays are 10 s, 20 s, 40 s, and so on, doubling up to 5 minutes.
	most := 12
	if *loop < time.Minute {
		most = 5
	}
	if n := s.count(); n > most {
		t.Errorf("there are %d pods after %v, want at most %d", n, *loop, most)
	}
	t.Logf("%d pods after %v", s.count(), *loop)
}

// Policies are asked about a pod only after the API server has returned the objects that the pod
// names.
func TestPolicy_readsWhatAPodNames(t *testing.T) {
	if *kubelet {
		t.Skip("a kubelet has no policies")
	}
	s := newSpace(t)
	s.kubectl("create", "configmap", "app", "--from-literal=text=hello")
	s.apply(fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: reader, labels: {references: read}}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 2
  containers:
  - name: main
    image: %q
    command: [sh, -c, %q]
    envFrom: [{configMapRef: {name: app}}, {secretRef: {name: none, optional: true}}]
`, busybox, endless))
	s.kubectl("wait", "--for=condition=Ready", "pod/reader", "--timeout=60s")
	out, err := cluster.Wardlet(t.Context(), "get", "decisions", s.name+"/reader", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Items []api.Decision }
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(`{"data":{"text":"hello"}}`))
	want := []api.SeenReference{{Kind: "ConfigMap", Name: "app", Digest: "sha256:" + hex.EncodeToString(sum[:])}, {Kind: "Secret", Name: "none"}}
	if len(list.Items) != 1 || list.Items[0].Verdict.Answer != api.Allow || !slices.Equal(list.Items[0].Verdict.References, want) {
		t.Errorf("decisions %+v, want one that allows and has read %+v", list.Items, want)
	}
}

func TestPod_ofAMegabyte(t *testing.T) {
	s := newSpace(t)
	var env strings.Builder
	for i := range 10 {
		fmt.Fprintf(&env, "    - {name: V%d, value: %q}\n", i, strings.Repeat("x", 100_000))
	}
	pod := func(name, env string) string {
		return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  terminationGracePeriodSeconds: 2
  containers:
  - name: main
    image: %q
    command: [sh, -c, %q]
    env:
%s`, name, busybox, endless, env)
	}
	if _, err := s.try(pod("huge", env.String()), "create", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.try(pod("small", "    - {name: V, value: x}\n"), "create", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	s.kubectl("wait", "--for=condition=Ready", "pod/huge", "pod/small", "--timeout=60s")
	s.kill()
	s.kubectl("delete", "pod", "huge", "small", "--timeout=60s")
}

func TestPod_seccompDefault(t *testing.T) {
	s := newSpace(t)
	for name, security := range map[string]string{"plain": "{}", "unconfined": "{seccompProfile: {type: Unconfined}}", "privileged": "{privileged: true}"} {
		s.apply(fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: %q, command: [grep, "^Seccomp:", /proc/self/status], securityContext: %s}
`, name, busybox, security))
	}
	for name, want := range map[string]string{"plain": "Seccomp:\t2\n", "unconfined": "Seccomp:\t0\n", "privileged": "Seccomp:\t0\n"} {
		s.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/"+name, "--timeout=60s")
		if got := s.kubectl("logs", name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
