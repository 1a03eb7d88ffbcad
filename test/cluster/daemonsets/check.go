package daemonsets

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// report is what a stand-in found in its container, and prints.
type report struct {
	Args         []string
	Env          map[string]string
	UID, GID     int64
	Groups       []int64
	Status       map[string]string
	Namespaces   map[string]string
	ReadOnlyRoot bool
	Mounts       map[string]mountReport
}

type mountReport struct {
	Directory, ReadOnly     bool
	Propagation, Unwritable string
	Files                   map[string]string
	Tokens                  map[string]claims
}

// claims are the claims of a service account's token.
type claims struct {
	Subject    string   `json:"sub"`
	Audience   []string `json:"aud"`
	Kubernetes struct {
		Pod struct{ Name, UID string }
	} `json:"kubernetes.io"`
}

// Objects are the ConfigMaps and Secrets that pods of one namespace may name, as stored at the API
// server or in the directory of objects.
type Objects struct {
	ConfigMaps map[string]v1.ConfigMap
	Secrets    map[string]v1.Secret
}

// prefix starts the line that has the report.
const prefix = "standin: "

// reportOf returns the report in the log of a container, or an error if the log has none.
func reportOf(log string) (*report, error) {
	lines := bufio.NewScanner(strings.NewReader(log))
	lines.Buffer(nil, len(log)+1)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), prefix+"{"); ok {
			var r report
			return &r, json.Unmarshal([]byte("{"+text), &r)
		}
	}
	return nil, fmt.Errorf("no report in the log: %q", log)
}

// Check compares what the stand-ins of a pod found with the pod and the objects. log returns the
// log of a container. The error lists all differences.
func (s *Set) Check(pod *v1.Pod, objects *Objects, log func(container string) (string, error)) error {
	var wrong []error
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		text, err := log(c.Name)
		var found *report
		if err == nil {
			found, err = reportOf(text)
		}
		if err == nil {
			k := check{set: s, pod: pod, container: &c, objects: objects, found: found}
			err = k.all()
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("pod %s, container %s: %w", pod.Name, c.Name, err))
		}
	}
	return errors.Join(wrong...)
}

// check is the comparison of one container.
type check struct {
	set       *Set
	pod       *v1.Pod
	container *v1.Container
	objects   *Objects
	found     *report
	wrong     []error
}

func (k *check) want(what string, found, want any) {
	if f, w := fmt.Sprint(found), fmt.Sprint(want); f != w {
		k.wrong = append(k.wrong, fmt.Errorf("%s: found %s, want %s", what, f, w))
	}
}

func (k *check) fail(format string, args ...any) {
	k.wrong = append(k.wrong, fmt.Errorf(format, args...))
}

func (k *check) all() error {
	k.environment()
	k.security()
	k.namespaces()
	for _, m := range k.container.VolumeMounts {
		k.mount(&m)
	}
	k.installed()
	return errors.Join(k.wrong...)
}

// environment compares variables and arguments.
func (k *check) environment() {
	want := map[string]string{}
	for _, from := range k.container.EnvFrom {
		switch {
		case from.ConfigMapRef != nil:
			for key, value := range k.objects.ConfigMaps[from.ConfigMapRef.Name].Data {
				want[from.Prefix+key] = value
			}
		case from.SecretRef != nil:
			for key, value := range k.objects.Secrets[from.SecretRef.Name].Data {
				want[from.Prefix+key] = string(value)
			}
		}
	}
	for _, e := range k.container.Env {
		if e.Name == variable {
			continue
		}
		value, ok := k.value(&e)
		if !ok { // the variable is optional
			if got, there := k.found.Env[e.Name]; there {
				k.fail("variable %s: found %q, want none", e.Name, got)
			}
			continue
		}
		want[e.Name] = expand(value, want)
	}
	for name, value := range want {
		if got, ok := k.found.Env[name]; !ok || got != value {
			k.fail("variable %s: found %q (%t), want %q", name, got, ok, value)
		}
	}
	args := slices.Concat(k.container.Command, k.container.Args)
	if len(k.container.Command) == 0 {
		args = slices.Insert(args, 0, "/standin") // the entry point of the image
	}
	for i := range args {
		args[i] = expand(args[i], want)
	}
	if !slices.Equal(args, k.found.Args) {
		k.fail("arguments: found %q, want %q", k.found.Args, args)
	}
}

// value returns the value of a variable, and whether the variable is set: an optional key may be
// missing.
func (k *check) value(e *v1.EnvVar) (value string, ok bool) {
	from := e.ValueFrom
	switch {
	case from == nil:
		return e.Value, true
	case from.ConfigMapKeyRef != nil:
		value, ok = k.objects.ConfigMaps[from.ConfigMapKeyRef.Name].Data[from.ConfigMapKeyRef.Key]
		if !ok && (from.ConfigMapKeyRef.Optional == nil || !*from.ConfigMapKeyRef.Optional) {
			k.fail("variable %s: no key %s in ConfigMap %s", e.Name, from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Name)
		}
		return value, ok
	case from.SecretKeyRef != nil:
		data, ok := k.objects.Secrets[from.SecretKeyRef.Name].Data[from.SecretKeyRef.Key]
		if !ok && (from.SecretKeyRef.Optional == nil || !*from.SecretKeyRef.Optional) {
			k.fail("variable %s: no key %s in Secret %s", e.Name, from.SecretKeyRef.Key, from.SecretKeyRef.Name)
		}
		return string(data), ok
	case from.FieldRef != nil:
		return k.field(from.FieldRef.FieldPath), true
	}
	k.fail("variable %s: this test does not know where its value is from", e.Name)
	return "", false
}

// field returns the value of a field of the pod.
func (k *check) field(path string) string {
	switch path {
	case "metadata.name":
		return k.pod.Name
	case "metadata.namespace":
		return k.pod.Namespace
	case "metadata.uid":
		return string(k.pod.UID)
	case "spec.nodeName":
		return k.pod.Spec.NodeName
	case "spec.serviceAccountName":
		return k.pod.Spec.ServiceAccountName
	case "status.podIP":
		return k.pod.Status.PodIP
	case "status.hostIP":
		return k.pod.Status.HostIP
	}
	k.fail("field %s is not known to this test", path)
	return ""
}

// expand replaces $(NAME) by the value of the variable NAME.
func expand(text string, variables map[string]string) string {
	for name, value := range variables {
		text = strings.ReplaceAll(text, "$("+name+")", value)
	}
	return text
}

// mount compares the content of one mount.
func (k *check) mount(m *v1.VolumeMount) {
	path := filepath.Clean(m.MountPath)
	found, ok := k.found.Mounts[path]
	if !ok {
		k.fail("mount %s is not in the report", path)
		return
	}
	at := slices.IndexFunc(k.pod.Spec.Volumes, func(v v1.Volume) bool { return v.Name == m.Name })
	if at < 0 {
		k.fail("mount %s: no volume %s", path, m.Name)
		return
	}
	v := &k.pod.Spec.Volumes[at]
	propagation := "private"
	if m.MountPropagation != nil {
		propagation = map[v1.MountPropagationMode]string{
			v1.MountPropagationNone: "private", v1.MountPropagationHostToContainer: "slave", v1.MountPropagationBidirectional: "shared",
		}[*m.MountPropagation]
	}
	k.want(path+": propagation", found.Propagation, propagation)
	switch {
	case v.HostPath != nil:
		k.hostPath(path, &found, m, v.HostPath.Path)
	case v.EmptyDir != nil:
		k.want(path+": read-only", found.ReadOnly, m.ReadOnly)
		k.want(path+": why nothing can be written", found.Unwritable, "")
	default:
		k.want(path+": read-only", found.ReadOnly, true)
		if !strings.Contains(found.Unwritable, "read-only file system") {
			k.fail("%s: an object can be written: %q", path, found.Unwritable)
		}
		k.objectFiles(path, &found, v)
	}
}

// hostPath compares a directory or file of the node: the container must see what the node has
// there, and the node must have what the container wrote.
func (k *check) hostPath(path string, found *mountReport, m *v1.VolumeMount, from string) {
	k.want(path+": read-only", found.ReadOnly, m.ReadOnly)
	info, err := os.Stat(from)
	if err != nil {
		k.fail("%s: %w", path, err)
		return
	}
	k.want(path+": directory", found.Directory, info.IsDir())
	if inSet := strings.HasPrefix(from, k.set.host+"/"); !inSet {
		if found.Directory && len(found.Files) == 0 {
			k.fail("%s: nothing is there", path)
		}
		return
	}
	for seed, text := range k.set.seeds {
		if relative, err := filepath.Rel(from, seed); err == nil && !strings.HasPrefix(relative, "..") {
			k.want(path+": the file "+relative, found.Files[strings.TrimPrefix(relative, ".")], digest(text))
		}
	}
	written := filepath.Join(from, "standin-"+k.container.Name)
	text, err := os.ReadFile(written)
	switch {
	case m.ReadOnly && !strings.Contains(found.Unwritable, "read-only file system"):
		k.fail("%s: is written though it is read-only: %q", path, found.Unwritable)
	case m.ReadOnly:
	case found.Unwritable != "":
		k.fail("%s: cannot be written: %s", path, found.Unwritable)
	case found.Directory && (err != nil || string(text) != "written by "+k.container.Name):
		k.fail("%s: on the node is %q of what was written, %w", path, text, err)
	}
	if m.MountPropagation != nil && *m.MountPropagation == v1.MountPropagationBidirectional {
		below := filepath.Join(from, "mounted-by-standin")
		if mounted, err := mountedAt(below); err != nil || !mounted {
			k.fail("%s: what the container mounts there is not on the node at %s, %w", path, below, err)
		}
	}
}

// installed compares a file that an init container put onto the node with its origin: a file that
// it copies, or the network configuration in a variable.
func (k *check) installed() {
	args := k.found.Args
	switch name := k.found.Env["CNI_CONF_NAME"]; {
	case name != "":
		k.onNode(filepath.Join("/host/etc/cni/net.d", name), digest(k.found.Env["CNI_NETWORK_CONFIG"]))
		k.onNode("/host/opt/cni/bin/calico", "")
	case len(args) > 2 && slices.Contains([]string{"cp", "install-conf"}, filepath.Base(args[0])):
		from, want := args[len(args)-2], ""
		for at, m := range k.found.Mounts {
			if relative, err := filepath.Rel(at, from); err == nil && !strings.HasPrefix(relative, "..") {
				want = m.Files[relative]
			}
		}
		k.onNode(args[len(args)-1], want)
	}
}

// onNode compares the file on the node behind a path in the container; an empty digest matches any
// file.
func (k *check) onNode(path, want string) {
	for _, m := range k.container.VolumeMounts {
		relative, err := filepath.Rel(m.MountPath, path)
		if err != nil || strings.HasPrefix(relative, "..") {
			continue
		}
		for _, v := range k.pod.Spec.Volumes {
			if v.Name != m.Name || v.HostPath == nil {
				continue
			}
			text, err := os.ReadFile(filepath.Join(v.HostPath.Path, relative))
			if got := digest(string(text)); err != nil || len(text) == 0 || want != "" && got != want {
				k.fail("%s on the node: the digest is %s, want %s; %w", path, got, want, err)
			}
		}
	}
}

// mountedAt reports whether something is mounted at a path of this machine.
func mountedAt(path string) (bool, error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	return strings.Contains(string(table), " "+path+" "), err
}

// objectFiles compares the files of a volume that is made of objects. There must be no others.
func (k *check) objectFiles(path string, found *mountReport, v *v1.Volume) {
	want := map[string]string{}
	switch {
	case v.ConfigMap != nil:
		k.configMap(want, v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
	case v.Secret != nil:
		k.secret(want, v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
	case v.Projected != nil:
		for _, source := range v.Projected.Sources {
			switch {
			case source.ConfigMap != nil:
				k.configMap(want, source.ConfigMap.Name, source.ConfigMap.Items, source.ConfigMap.Optional)
			case source.Secret != nil:
				k.secret(want, source.Secret.Name, source.Secret.Items, source.Secret.Optional)
			case source.DownwardAPI != nil:
				for _, item := range source.DownwardAPI.Items {
					want[item.Path] = digest(k.field(item.FieldRef.FieldPath))
				}
			case source.ServiceAccountToken != nil:
				// Only the token's claims can be compared.
				want[source.ServiceAccountToken.Path] = found.Files[source.ServiceAccountToken.Path]
				k.token(path, found, source.ServiceAccountToken)
			}
		}
	default:
		k.fail("%s: this test does not know what kind of volume %s is", path, v.Name)
	}
	if !maps.Equal(want, found.Files) {
		k.fail("%s: found the files %v, want %v", path, found.Files, want)
	}
}

// token compares the claims of a token with the pod.
func (k *check) token(path string, found *mountReport, t *v1.ServiceAccountTokenProjection) {
	token, ok := found.Tokens[t.Path]
	if !ok {
		k.fail("%s: there is no token in the file %s", path, t.Path)
		return
	}
	k.want(path+": subject of the token", token.Subject, "system:serviceaccount:"+k.pod.Namespace+":"+k.pod.Spec.ServiceAccountName)
	k.want(path+": pod of the token", token.Kubernetes.Pod.Name+" "+token.Kubernetes.Pod.UID, k.pod.Name+" "+string(k.pod.UID))
	if t.Audience != "" {
		k.want(path+": audience of the token", token.Audience, []string{t.Audience})
	}
}

func (k *check) configMap(files map[string]string, name string, items []v1.KeyToPath, optional *bool) {
	object, ok := k.objects.ConfigMaps[name]
	if !ok && (optional == nil || !*optional) {
		k.fail("no ConfigMap %s", name)
	}
	data := map[string]string{}
	maps.Copy(data, object.Data)
	for key, value := range object.BinaryData {
		data[key] = string(value)
	}
	project(files, data, items)
}

func (k *check) secret(files map[string]string, name string, items []v1.KeyToPath, optional *bool) {
	object, ok := k.objects.Secrets[name]
	if !ok && (optional == nil || !*optional) {
		k.fail("no Secret %s", name)
	}
	data := map[string]string{}
	for key, value := range object.Data {
		data[key] = string(value)
	}
	project(files, data, items)
}

// project adds the digests of the files that are made from an object.
func project(files, data map[string]string, items []v1.KeyToPath) {
	if len(items) == 0 {
		for key, value := range data {
			files[key] = digest(value)
		}
	}
	for _, item := range items {
		if value, ok := data[item.Key]; ok {
			files[item.Path] = digest(value)
		}
	}
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// namespaces checks which namespaces of the container are the machine's own.
func (k *check) namespaces() {
	for name, host := range map[string]bool{
		"net": k.pod.Spec.HostNetwork, "pid": k.pod.Spec.HostPID, "ipc": k.pod.Spec.HostIPC,
	} {
		own, err := os.Readlink("/proc/self/ns/" + name)
		if err != nil {
			k.fail("namespace %s: %w", name, err)
		}
		k.want("namespace "+name+" is the machine's", k.found.Namespaces[name] == own, host)
	}
}

// security compares user, groups, capabilities, privileges and seccomp.
func (k *check) security() {
	context, pod := k.container.SecurityContext, k.pod.Spec.SecurityContext
	if context == nil {
		context = &v1.SecurityContext{}
	}
	if pod == nil {
		pod = &v1.PodSecurityContext{}
	}
	if user := userOf(&k.pod.Spec, k.container); user != nil {
		k.want("user", k.found.UID, *user)
	} else if runsAsNonRoot(&k.pod.Spec, k.container) {
		k.want("user", k.found.UID, 999)
	} else {
		k.want("user", k.found.UID, 0)
	}
	if context.RunAsGroup != nil {
		k.want("group", k.found.GID, *context.RunAsGroup)
	} else if pod.RunAsGroup != nil {
		k.want("group", k.found.GID, *pod.RunAsGroup)
	}
	for _, group := range append(slices.Clone(pod.SupplementalGroups), deref(pod.FSGroup)...) {
		k.want("group "+strconv.FormatInt(group, 10)+" is one of the process's", slices.Contains(k.found.Groups, group), true)
	}
	privileged := context.Privileged != nil && *context.Privileged
	k.want("capabilities", k.found.Status["CapBnd"], capabilities(privileged, context.Capabilities))
	if !privileged && k.found.UID != 0 {
		k.want("capabilities in effect", k.found.Status["CapEff"], fmt.Sprintf("%016x", 0))
	}
	k.want("no new privileges", k.found.Status["NoNewPrivs"] == "1", context.AllowPrivilegeEscalation != nil && !*context.AllowPrivilegeEscalation)
	k.want("read-only root", k.found.ReadOnlyRoot, context.ReadOnlyRootFilesystem != nil && *context.ReadOnlyRootFilesystem)
	profile := context.SeccompProfile
	if profile == nil {
		profile = pod.SeccompProfile
	}
	switch {
	case privileged:
		k.want("seccomp", k.found.Status["Seccomp"], "0")
	case profile != nil && profile.Type == v1.SeccompProfileTypeRuntimeDefault:
		k.want("seccomp", k.found.Status["Seccomp"], "2")
	}
}

func deref(number *int64) []int64 {
	if number == nil {
		return nil
	}
	return []int64{*number}
}

// names are the capabilities in the order of their numbers.
var names = strings.Fields(`CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE
	NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT
	SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE
	MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE`)

// defaults are the capabilities that a container has if it does not specify any.
var defaults = strings.Fields(`CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE SYS_CHROOT
	KILL AUDIT_WRITE`)

// capabilities returns the bounding set of a container as /proc/self/status writes it.
func capabilities(privileged bool, c *v1.Capabilities) string {
	if privileged {
		status, err := os.ReadFile("/proc/self/status") // all that this process has, which may be fewer than exist
		if err != nil {
			return err.Error()
		}
		_, after, _ := strings.Cut(string(status), "CapBnd:\t")
		set, _, _ := strings.Cut(after, "\n")
		return set
	}
	set := map[string]bool{}
	for _, name := range defaults {
		set[name] = true
	}
	if c != nil {
		for _, name := range c.Drop {
			if strings.EqualFold(string(name), "ALL") {
				clear(set)
			}
			delete(set, string(name))
		}
		for _, name := range c.Add {
			set[string(name)] = true
		}
	}
	var bits uint64
	for number, name := range names {
		if set[name] {
			bits |= 1 << number
		}
	}
	return fmt.Sprintf("%016x", bits)
}
