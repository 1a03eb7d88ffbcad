package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/wardlet/wardlet/test/harness"
	"github.com/wardlet/wardlet/test/privateruntime"
)

// The paths to which kubeadm writes.
const (
	manifests  = "/etc/kubernetes/manifests"
	kubeconfig = "/etc/kubernetes/super-admin.conf"
)

// patience is how long the agent may take to exit.
const patience = 15 * time.Second

// often is the polling interval for steps that take seconds.
const often = 200 * time.Millisecond

// demo is the demonstration, one for each run of the program.
type demo struct {
	wardlet, tools string
	// dir is an empty directory for the program alone.
	dir     string
	began   time.Time
	runtime *harness.Runtime
	agent   *harness.Agent
	pods    []v1.Pod // as kubeadm writes them
}

// step is a part of the demonstration. do returns its result in words.
type step struct {
	does string
	do   func(ctx context.Context) (string, error)
}

func (d *demo) run(ctx context.Context) (err error) {
	defer func() {
		if err != nil && d.agent != nil {
			err = fmt.Errorf("%w\nthe agent's log ends so:\n%s", err, strings.Join(d.agent.LogTail(20), "\n"))
		}
		err = errors.Join(err, d.close(context.WithoutCancel(ctx)))
	}()
	steps := []step{
		{"kubeadm writes certificates, kubeconfigs and static pods", d.kubeadm},
		{"a containerd of its own has their images", d.startRuntime},
		{"wardlet runs the static pods as they are", d.startAgent},
		{"the agent is killed while they start, and starts again", d.killEarly},
		{"all pods are ready", d.ready},
		{"kubectl finds the control plane ready", d.kubectl},
		{"the agent is killed again; no container starts again, no pod is unready", d.killReady},
		{"the manifests are removed, and nothing is left", d.remove},
	}
	for i, s := range steps {
		began := time.Now()
		found, err := s.do(ctx)
		if err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, s.does, err)
		}
		fmt.Printf("%d. %s (%.1f s)\n   %s\n", i+1, s.does, time.Since(began).Seconds(), strings.ReplaceAll(found, "\n", "\n   "))
	}
	return nil
}

func (d *demo) close(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if d.agent != nil {
		if d.agent.Process != nil {
			err = d.agent.Process.End(syscall.SIGTERM, patience)
		}
	}
	if d.runtime != nil {
		err = errors.Join(err, d.runtime.Close(ctx))
	}
	if d.agent != nil {
		err = errors.Join(err, harness.RemoveCgroups(ctx, d.agent.Cgroup()), os.RemoveAll(d.agent.Dir))
	}
	return err
}

// kubeadm runs the phases of kubeadm init that write files.
func (d *demo) kubeadm(ctx context.Context) (string, error) {
	if err := d.cover(ctx); err != nil {
		return "", err
	}
	config := filepath.Join(d.dir, "kubeadm.yaml")
	version, err := ask(ctx, d.tool("kubeadm"), "version", "-o", "short")
	if err != nil {
		return "", err
	}
	text := "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nlocalAPIEndpoint: {advertiseAddress: " + address + "}\n" +
		"nodeRegistration: {name: " + node + "}\n---\n" +
		"apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: " + version + "\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return "", err
	}
	for _, phase := range []string{"certs all", "kubeconfig all", "etcd local", "control-plane all"} {
		args := slices.Concat([]string{"init", "phase"}, strings.Fields(phase), []string{"--config", config})
		if err := call(ctx, d.tool("kubeadm"), args...); err != nil {
			return "", err
		}
	}
	files, err := filepath.Glob(manifests + "/*.yaml")
	if err != nil {
		return "", err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		var p v1.Pod
		if err := yaml.UnmarshalStrict(content, &p); err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		d.pods = append(d.pods, p)
	}
	return "kubeadm " + version + ": " + strings.Join(files, " "), nil
}

// tool returns the path of a program that tools/setup.sh builds.
func (d *demo) tool(name string) string { return filepath.Join(d.tools, name) }

// startRuntime starts a runtime and imports an image for each pod.
func (d *demo) startRuntime(ctx context.Context) (string, error) {
	var err error
	if d.runtime, err = harness.StartRuntime(ctx, privateruntime.Options{Name: "plane-" + strconv.Itoa(os.Getpid())}); err != nil {
		return "", err
	}
	var images []string
	for i := range d.pods {
		c := &d.pods[i].Spec.Containers[0]
		archive := filepath.Join(d.dir, "image.tar")
		if err := writeImage(archive, c.Image, c.Command[0], d.tool(c.Command[0])); err != nil {
			return "", err
		}
		if err := d.runtime.Import(ctx, archive, c.Image); err != nil {
			return "", err
		}
		if err := os.Remove(archive); err != nil {
			return "", err
		}
		images = append(images, c.Image)
	}
	return strings.Join(images, " "), nil
}

// node is the node's name: a pod etcd is named etcd-NODE.
const node = "edge"

func (d *demo) startAgent(ctx context.Context) (string, error) {
	var err error
	if d.agent, err = harness.NewAgent("plane", d.wardlet); err != nil {
		return "", err
	}
	if err := d.agent.Configure(&harness.Settings{Node: node, Endpoint: d.runtime.Endpoint(), Manifests: manifests}); err != nil {
		return "", err
	}
	if err := d.agent.Start(); err != nil {
		return "", err
	}
	return d.containers(ctx, func(all map[string]v1.ContainerStatus) error {
		if c := all["kube-apiserver"]; c.State.Running == nil {
			return fmt.Errorf("the container kube-apiserver does not run: %v", c.State)
		}
		return nil
	})
}

// killEarly kills the agent while startup probes run.
func (d *demo) killEarly(ctx context.Context) (string, error) {
	return d.kill(ctx, false)
}

// killReady kills the agent when all containers are ready.
func (d *demo) killReady(ctx context.Context) (string, error) {
	return d.kill(ctx, true)
}

// kill kills the agent and starts it again. Running containers must stay the same; with ready, they
// must also stay ready.
func (d *demo) kill(ctx context.Context, ready bool) (string, error) {
	before, err := d.statuses(ctx)
	if err != nil {
		return "", err
	}
	if err := d.agent.Process.End(syscall.SIGKILL, patience); err != nil {
		return "", err
	}
	if err := d.agent.Start(); err != nil {
		return "", err
	}
	settled := time.Now().Add(settle)
	return d.containers(ctx, func(all map[string]v1.ContainerStatus) error {
		if len(all) < len(before) {
			return errors.New("not all pods are known yet")
		}
		for name := range before {
			is, was := all[name], before[name]
			if was.State.Running != nil && is.ContainerID != was.ContainerID {
				return stop{fmt.Errorf("%s was container %s and is %s: %v, before %v", name, was.ContainerID, is.ContainerID, is.State, is.LastTerminationState)}
			}
			if ready && !is.Ready {
				return stop{fmt.Errorf("%s is not ready any more", name)}
			}
		}
		if left := time.Until(settled); left > 0 {
			return fmt.Errorf("looking for %s more", left)
		}
		return nil
	})
}

// settle is how long a restarted agent is observed: longer than the period of the pods' probes.
const settle = 12 * time.Second

// ready waits until all containers are ready.
func (d *demo) ready(ctx context.Context) (string, error) {
	return d.containers(ctx, func(all map[string]v1.ContainerStatus) error {
		for _, p := range d.pods {
			if c := all[p.Name]; !c.Ready {
				return fmt.Errorf("%s is not ready: %v", p.Name, c.State)
			}
		}
		return nil
	})
}

// kubectl shows with the real kubectl that the control plane works: its own checks pass, and its
// leaders hold their leases.
func (d *demo) kubectl(ctx context.Context) (string, error) {
	found := ""
	return found, d.agent.Process.Await(ctx, often, func(ctx context.Context) error {
		health, err := ask(ctx, d.tool("kubectl"), "--kubeconfig", kubeconfig, "get", "--raw", "/readyz")
		if err != nil {
			return err
		}
		leases, err := ask(ctx, d.tool("kubectl"), "--kubeconfig", kubeconfig, "-n", "kube-system", "get", "lease",
			"kube-controller-manager", "kube-scheduler", "-o", "name")
		found = "/readyz: " + health + "; " + strings.ReplaceAll(leases, "\n", " ")
		return err
	})
}

// remove removes the manifests and waits until nothing of their pods is left.
func (d *demo) remove(ctx context.Context) (string, error) {
	for _, p := range d.pods {
		if err := os.Remove(filepath.Join(manifests, p.Name+".yaml")); err != nil {
			return "", err
		}
	}
	return "no pod directory, no log, no cgroup", d.agent.Process.Await(ctx, often, func(context.Context) error {
		left, err := d.agent.Left()
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("left is %s", strings.Join(left, " "))
		}
		return err
	})
}

// stop is an error after which waiting makes no sense.
type stop struct{ error }

// containers waits until check accepts the agent's containers, and returns a description of them.
func (d *demo) containers(ctx context.Context, check func(map[string]v1.ContainerStatus) error) (string, error) {
	var all map[string]v1.ContainerStatus
	var final error
	err := d.agent.Process.Await(ctx, often, func(ctx context.Context) (err error) {
		if all, err = d.statuses(ctx); err == nil {
			err = check(all)
		}
		if s, ok := errors.AsType[stop](err); ok {
			final = s
			return nil
		}
		return err
	})
	if err = errors.Join(err, final); err != nil {
		return "", err
	}
	var text []string
	for _, p := range d.pods {
		c := all[p.Name]
		text = append(text, fmt.Sprintf("%s ready=%t restarts=%d %.12s", p.Name, c.Ready, c.RestartCount, strings.TrimPrefix(c.ContainerID, "containerd://")))
	}
	return strings.Join(text, "\n"), nil
}

// statuses returns the statuses of all containers, by container name. Each pod has one container,
// with the name of the pod.
func (d *demo) statuses(ctx context.Context) (map[string]v1.ContainerStatus, error) {
	out, err := d.agent.Wardlet(ctx, "get", "pods", "-o", "json")
	if err != nil {
		return nil, err
	}
	var list v1.PodList
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return nil, fmt.Errorf("read the list of pods: %w", err)
	}
	all := map[string]v1.ContainerStatus{}
	for i := range list.Items {
		for _, c := range list.Items[i].Status.ContainerStatuses {
			all[c.Name] = c
		}
	}
	return all, nil
}
