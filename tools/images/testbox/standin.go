package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// settingsVariable is the environment variable with the settings of a stand-in: a standinSettings
// in JSON.
const settingsVariable = "STANDIN"

// standinSettings are the settings of a stand-in for a program of another image.
type standinSettings struct {
	// Container is the name of the container; files that the stand-in writes are named after it.
	Container string `json:"container"`
	// Once is true for an init container, which terminates.
	Once bool `json:"once"`
	// HostPID is true if the first process of the container is not process 1.
	HostPID bool `json:"hostPID"`
	// Listen are the addresses of HTTP probes.
	Listen []string       `json:"listen"`
	Mounts []standinMount `json:"mounts"`
}

// standinMount is a mount that the container must have.
type standinMount struct {
	Path string `json:"path"`
	// Deep is true if all files are read. Otherwise only the first level is listed.
	Deep bool `json:"deep"`
	// Write is true if the stand-in tries to write.
	Write bool `json:"write"`
	// Mount is true if the stand-in mounts a file system below, for the node to see.
	Mount bool `json:"mount"`
}

// report is the result of a stand-in, printed as one line.
type report struct {
	Args   []string          `json:"args"`
	Env    map[string]string `json:"env"`
	UID    int               `json:"uid"`
	GID    int               `json:"gid"`
	Groups []int             `json:"groups"`
	// Status are lines of /proc/self/status.
	Status map[string]string `json:"status"`
	// Namespaces are the links below /proc/self/ns.
	Namespaces   map[string]string      `json:"namespaces"`
	ReadOnlyRoot bool                   `json:"readOnlyRoot"`
	Mounts       map[string]mountReport `json:"mounts"`
}

// mountReport is the result of a stand-in for one mount.
type mountReport struct {
	Directory bool `json:"directory"`
	ReadOnly  bool `json:"readOnly"`
	// Propagation is shared, slave or private.
	Propagation string `json:"propagation"`
	// Files are the digests of files by relative path, empty for anything but a regular file and
	// for a file that was only listed.
	Files map[string]string `json:"files"`
	// Tokens are the claims of files that hold the token of a service account.
	Tokens map[string]json.RawMessage `json:"tokens"`
	// Unwritable is the error of writing, empty if writing succeeded or was not tried.
	Unwritable string `json:"unwritable"`
}

// standin imitates the program of an image. It reads all mounts of its container, prints a report,
// and serves probes until SIGTERM. A later stand-in in the same container, run by a probe or hook,
// succeeds if the first one has read everything.
func standin(name string, args []string) error {
	var settings standinSettings
	if err := json.Unmarshal([]byte(os.Getenv(settingsVariable)), &settings); err != nil {
		return fmt.Errorf("the variable %s: %w", settingsVariable, err)
	}
	if os.Getpid() != 1 && !settings.HostPID {
		return firstIsReady()
	}
	found, err := look(&settings)
	if err != nil {
		return err
	}
	if settings.Once {
		if err := duty(name, args); err != nil {
			return err
		}
	}
	line, err := json.Marshal(found)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "standin: %s\n", line)
	if settings.Once {
		return nil
	}
	return standinServe(settings.Listen)
}

// readyName is the name of the first process once it has read everything.
const readyName = "standin-ready"

// firstIsReady returns an error while the first process of the container has not read everything.
func firstIsReady() error {
	name, err := os.ReadFile("/proc/1/comm")
	if err == nil && strings.TrimSpace(string(name)) != readyName {
		err = errors.New("the container has not read everything")
	}
	return err
}

// standinServe answers every HTTP request until it is signalled.
func standinServe(addresses []string) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	server := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }),
		ReadHeaderTimeout: 10 * time.Second,
	}
	failed := make(chan error, len(addresses))
	for _, address := range addresses {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		go func() { failed <- server.Serve(listener) }()
	}
	if err := os.WriteFile("/proc/self/comm", []byte(readyName), 0o600); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	case <-signals:
		closed := server.Close()
		for range addresses {
			if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
				return err
			}
		}
		return closed
	}
}

// look reads everything that the report needs.
func look(settings *standinSettings) (*report, error) {
	mounts, err := mountTable()
	if err != nil {
		return nil, err
	}
	groups, err := os.Getgroups()
	if err != nil {
		return nil, err
	}
	r := &report{
		Args: os.Args, UID: os.Geteuid(), GID: os.Getegid(), Groups: groups, ReadOnlyRoot: mounts["/"].readOnly,
		Env: map[string]string{}, Status: map[string]string{}, Namespaces: map[string]string{}, Mounts: map[string]mountReport{},
	}
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); name != settingsVariable {
			r.Env[name] = value
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(status)) {
		if name, value, _ := strings.Cut(line, ":"); strings.HasPrefix(name, "Cap") || name == "NoNewPrivs" || name == "Seccomp" {
			r.Status[name] = strings.TrimSpace(value)
		}
	}
	for _, name := range []string{"net", "pid", "ipc", "uts"} {
		if r.Namespaces[name], err = os.Readlink("/proc/self/ns/" + name); err != nil {
			return nil, err
		}
	}
	for _, m := range settings.Mounts {
		point, ok := mounts[m.Path]
		if !ok {
			return nil, fmt.Errorf("nothing is mounted at %s", m.Path)
		}
		found, err := m.look(settings.Container)
		if err != nil {
			return nil, fmt.Errorf("what is mounted at %s: %w", m.Path, err)
		}
		found.ReadOnly, found.Propagation = point.readOnly, point.propagation
		r.Mounts[m.Path] = *found
	}
	return r, nil
}

// look reads the mount and returns its report.
func (m *standinMount) look(container string) (*mountReport, error) {
	r := &mountReport{Files: map[string]string{}, Tokens: map[string]json.RawMessage{}}
	info, err := os.Stat(m.Path)
	if err != nil {
		return nil, err
	}
	r.Directory = info.IsDir()
	if err := r.read(m.Path, "", m.Deep); err != nil {
		return nil, err
	}
	switch {
	case !m.Write:
		err = syscall.Access(m.Path, 2)
	case r.Directory:
		err = os.WriteFile(filepath.Join(m.Path, "standin-"+container), []byte("written by "+container), 0o644)
	default:
		var file *os.File
		if file, err = os.OpenFile(m.Path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			err = file.Close()
		}
	}
	if err != nil {
		r.Unwritable = err.Error()
	}
	if m.Mount {
		below := filepath.Join(m.Path, "mounted-by-standin")
		if err := os.MkdirAll(below, 0o755); err != nil {
			return nil, err
		}
		if err := syscall.Mount("standin", below, "tmpfs", 0, "size=64k"); err != nil {
			return nil, fmt.Errorf("mount below: %w", err)
		}
	}
	return r, nil
}

// read reads a file, or the files of a directory. Names that begin with two dots are internal to a
// volume and are skipped.
func (r *mountReport) read(root, relative string, deep bool) error {
	path := filepath.Join(root, relative)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && relative != "":
		r.Files[relative] = "" // a link that leads nowhere
		return nil
	case err != nil:
		return err
	case info.Mode().IsRegular():
		data, err := os.ReadFile(path)
		r.Files[relative] = fmt.Sprintf("%x", sha256.Sum256(data))
		if parts := strings.Split(string(data), "."); len(parts) == 3 {
			if claims, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil && json.Valid(claims) {
				r.Tokens[relative] = claims
			}
		}
		return err
	case !info.IsDir():
		r.Files[relative] = ""
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := filepath.Join(relative, entry.Name())
		if strings.HasPrefix(entry.Name(), "..") {
			continue
		}
		if !deep {
			r.Files[name] = ""
		} else if err := r.read(root, name, deep); err != nil {
			return err
		}
	}
	return nil
}

// mountPoint is an entry of the kernel's mount table.
type mountPoint struct {
	readOnly    bool
	propagation string
}

// mountTable returns the mounts of this container by path.
func mountTable() (map[string]mountPoint, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	table := map[string]mountPoint{}
	for line := range strings.Lines(string(text)) {
		before, _, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if len(fields) < 6 {
			return nil, fmt.Errorf("mount table: %q", line)
		}
		point := mountPoint{propagation: "private"}
		for option := range strings.SplitSeq(fields[5], ",") {
			point.readOnly = point.readOnly || option == "ro"
		}
		for _, tag := range fields[6:] {
			switch {
			case strings.HasPrefix(tag, "shared:"):
				point.propagation = "shared"
			case strings.HasPrefix(tag, "master:") && point.propagation == "private":
				point.propagation = "slave"
			}
		}
		path := fields[4]
		if unquoted, err := strconv.Unquote(`"` + path + `"`); err == nil {
			path = unquoted // blanks are written as octal escapes
		}
		table[path] = point
	}
	return table, nil
}
