package runtime

import (
	"path/filepath"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// containerConfig is what a container is made with. It changes nothing; the
// files its mounts name are written by prepareFiles.
func (r *Runtime) containerConfig(run *pod.ContainerRun) (*runtimeapi.ContainerConfig, error) {
	p, c := run.Pod, run.Container
	arguments, err := expandArguments(c)
	if err != nil {
		return nil, err
	}
	annotations, err := r.containerAnnotations(run)
	if err != nil {
		return nil, err
	}
	profile, oldProfile, err := appArmor(p, c)
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
		Mounts:      r.mounts(run),
		Labels:      containerLabels(p, c),
		Annotations: annotations,
		LogPath:     logPath(c.Name, run.Attempt),
		Stdin:       c.Stdin,
		StdinOnce:   c.StdinOnce,
		Tty:         c.TTY,
		Linux: &runtimeapi.LinuxContainerConfig{
			Resources: r.containerResources(p, c),
			// Masked and read-only paths are the runtime's default; without a
			// seccomp profile a container runs unconfined, as under a kubelet.
			SecurityContext: &runtimeapi.LinuxContainerSecurityContext{
				NamespaceOptions: namespaceOptions(p),
				Apparmor:         profile,
				ApparmorProfile:  oldProfile, //nolint:staticcheck // older runtimes know no other form
				Seccomp:          &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Unconfined},
			},
		},
	}, nil
}

// mounts are the volumes, then /etc/hosts, then the termination message file.
func (r *Runtime) mounts(run *pod.ContainerRun) []*runtimeapi.Mount {
	var mounts []*runtimeapi.Mount
	for _, m := range run.Mounts {
		mounts = append(mounts, &runtimeapi.Mount{HostPath: m.HostPath, ContainerPath: m.ContainerPath, Readonly: m.ReadOnly})
	}
	if managesHosts(run) {
		mounts = append(mounts, &runtimeapi.Mount{HostPath: r.config.Layout.HostsFile(run.Pod.UID), ContainerPath: etcHosts})
	}
	if path := run.Container.TerminationMessagePath; path != "" {
		mounts = append(mounts, &runtimeapi.Mount{HostPath: r.messageFile(run), ContainerPath: path})
	}
	return mounts
}

// logPath is a container's log below the sandbox's log directory.
func logPath(container string, attempt uint32) string {
	return filepath.Join(container, logName(attempt))
}
