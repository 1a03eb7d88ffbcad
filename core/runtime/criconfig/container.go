package criconfig

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/dump"

	"github.com/wardlet/wardlet/core/pod"
)

// Container returns the configuration of a container with the given mounts. It may look up the user
// of the image and wait for API objects. It changes nothing.
func (b *Builder) Container(ctx context.Context, run *pod.ContainerRun, mounts []*runtimeapi.Mount) (*runtimeapi.ContainerConfig, error) {
	p, c := run.Pod, run.Container
	arguments, err := b.expandArguments(ctx, run)
	if err != nil {
		return nil, err
	}
	annotations, err := b.containerAnnotations(run)
	if err != nil {
		return nil, err
	}
	security, err := b.containerSecurity(ctx, run)
	if err != nil {
		return nil, err
	}
	return &runtimeapi.ContainerConfig{
		Metadata:    &runtimeapi.ContainerMetadata{Name: c.Name, Attempt: run.Attempt},
		Image:       &runtimeapi.ImageSpec{Image: run.ImageRef, UserSpecifiedImage: c.Image},
		Command:     arguments.command,
		Args:        arguments.args,
		WorkingDir:  c.WorkingDir,
		Envs:        arguments.env,
		Mounts:      mounts,
		Labels:      containerLabels(p, c),
		Annotations: annotations,
		LogPath:     LogPath(c.Name, run.Attempt),
		Stdin:       c.Stdin,
		StdinOnce:   c.StdinOnce,
		Tty:         c.TTY,
		StopSignal:  stopSignal(c),
		Linux: &runtimeapi.LinuxContainerConfig{
			Resources:       b.containerResources(p, c),
			SecurityContext: security,
		},
	}, nil
}

// signalNames converts the signals of the pod API to those of the CRI, which contain no + or -.
var signalNames = strings.NewReplacer("+", "PLUS", "-", "MINUS")

// stopSignal returns the signal that stops a container. If the container specifies none, the
// runtime uses that of the image or its own default.
func stopSignal(c *v1.Container) runtimeapi.Signal {
	if c.Lifecycle == nil || c.Lifecycle.StopSignal == nil {
		return runtimeapi.Signal_RUNTIME_DEFAULT
	}
	return runtimeapi.Signal(runtimeapi.Signal_value[signalNames.Replace(string(*c.Lifecycle.StopSignal))])
}

// StopSignal returns the stop signal that the runtime reports for a container, empty if it reports
// none.
func StopSignal(signal runtimeapi.Signal) v1.Signal {
	name, ok := runtimeapi.Signal_name[int32(signal)]
	if !ok || signal == runtimeapi.Signal_RUNTIME_DEFAULT {
		return ""
	}
	return v1.Signal(strings.NewReplacer("PLUS", "+", "MINUS", "-").Replace(name))
}

func containerLabels(p *v1.Pod, c *v1.Container) map[string]string {
	labels := podLabels(p)
	labels[pod.LabelContainerName] = c.Name
	return labels
}

// ContainerHash returns the definition hash of a container, over its name and image, as 8 hex
// digits. A running container whose hash differs from that of its definition is replaced. So the
// algorithm must never change: an upgrade would restart every container.
func ContainerHash(c *v1.Container) string {
	h := fnv.New32a()
	_, _ = io.WriteString(h, c.Name+"\x00"+c.Image)
	return fmt.Sprintf("%08x", h.Sum32())
}

// kubeletHash returns the hash of a container's definition as a kubelet writes it: a kubelet that
// takes over the container finds it unchanged.
func kubeletHash(c *v1.Container) string {
	text, _ := json.Marshal(map[string]string{"name": c.Name, "image": c.Image}) // strings have a JSON form
	h := fnv.New32a()
	_, _ = io.WriteString(h, dump.ForHash(text))
	return strconv.FormatUint(uint64(h.Sum32()), 16)
}

// LogPath returns the path of a container's log, relative to the sandbox's log directory.
func LogPath(container string, attempt uint32) string {
	return filepath.Join(container, logName(attempt))
}

func logName(attempt uint32) string {
	return strconv.FormatUint(uint64(attempt), 10) + ".log"
}
