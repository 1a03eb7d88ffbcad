package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// templatePod is the name of the pod whose requests are learnt. Its UID also begins with this name,
// so that replacing one name is enough everywhere.
const templatePod = "lifecycle-template"

// template has the requests of an agent for one pod, as JSON that contains names to replace.
type template struct {
	sandbox, container string
	// dir and cgroup are the directory and the cgroup of that agent.
	dir, cgroup string
}

// request has the requests for one pod.
type request struct {
	sandbox   *criapi.PodSandboxConfig
	container *criapi.ContainerConfig
}

// learn lets an agent run one pod, and reads its requests from the runtime.
func (b *bench) learn(ctx context.Context) error {
	return b.with(ctx, func() (*agent, error) { return b.newWardlet(ours, false) }, func(ctx context.Context, a *agent) error {
		m := manifest{name: templatePod, uid: templatePod + "-uid"}
		if _, err := a.drop(m); err != nil {
			return err
		}
		runs, err := b.events.running(ctx, m.running(), "")
		if err != nil {
			return err
		}
		b.template, err = b.asked(ctx, runs.id)
		if err != nil {
			return err
		}
		b.template.dir, b.template.cgroup = a.Dir, a.Cgroup()
		_, err = b.template.stamp("some", "/dir", "cgroup", 0)
		return err
	})
}

// asked returns the requests for the pod of a container.
func (b *bench) asked(ctx context.Context, id string) (*template, error) {
	container, err := b.cri.ContainerStatus(ctx, &criapi.ContainerStatusRequest{ContainerId: id, Verbose: true})
	if err != nil {
		return nil, err
	}
	c, err := parseAsked(container.GetInfo())
	if err != nil {
		return nil, err
	}
	sandbox, err := b.cri.PodSandboxStatus(ctx, &criapi.PodSandboxStatusRequest{PodSandboxId: c.Sandbox, Verbose: true})
	if err != nil {
		return nil, err
	}
	s, err := parseAsked(sandbox.GetInfo())
	if err != nil {
		return nil, err
	}
	return &template{sandbox: string(s.Config), container: string(c.Config)}, nil
}

// asked is a part of containerd's verbose status.
type asked struct {
	Sandbox string          `json:"sandboxID"`
	Config  json.RawMessage `json:"config"`
}

func parseAsked(verbose map[string]string) (a asked, err error) {
	if err := json.Unmarshal([]byte(verbose["info"]), &a); err != nil {
		return asked{}, fmt.Errorf("read what was asked of the runtime: %w", err)
	}
	if len(a.Config) == 0 {
		return asked{}, errors.New("the runtime does not tell what was asked of it")
	}
	return a, nil
}

// stamp returns the requests for a pod with another name and agent. attempt is the number of the
// container of that pod.
func (t *template) stamp(name, dir, cgroup string, attempt int) (*request, error) {
	// The directory's name contains the cgroup's, so it is replaced first.
	replacer := strings.NewReplacer(t.dir, dir, t.cgroup, cgroup, templatePod, name)
	r := &request{&criapi.PodSandboxConfig{}, &criapi.ContainerConfig{}}
	if err := json.Unmarshal([]byte(replacer.Replace(t.sandbox)), r.sandbox); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(replacer.Replace(t.container)), r.container); err != nil {
		return nil, err
	}
	if r.sandbox.GetMetadata().GetName() != name+"-"+nodeName || len(r.container.GetArgs()) == 0 {
		return nil, fmt.Errorf("what was asked of the runtime is not for the pod it was asked for: %s, %s", t.sandbox, t.container)
	}
	r.container.Metadata.Attempt = uint32(attempt)
	r.container.LogPath = filepath.Join(r.container.Metadata.Name, fmt.Sprintf("%d.log", attempt))
	return r, nil
}

// prepare creates the files on the host that the request names.
func (r *request) prepare() error {
	log := filepath.Join(r.sandbox.GetLogDirectory(), r.container.GetLogPath())
	if err := os.MkdirAll(filepath.Dir(log), 0o755); err != nil {
		return err
	}
	for _, m := range r.container.GetMounts() {
		if err := os.MkdirAll(filepath.Dir(m.GetHostPath()), 0o755); err != nil {
			return err
		}
		file, err := os.OpenFile(m.GetHostPath(), os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	return nil
}
