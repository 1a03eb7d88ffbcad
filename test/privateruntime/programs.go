package privateruntime

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// module is the module path in the go.mod of the repository's root.
const module = "github.com/wardlet/wardlet"

// advice is the end of every error about a missing file.
const advice = "run tools/setup.sh runtime"

// programs are the files that a runtime runs or imports.
type programs struct {
	repository string
	containerd string
	ctr        string
	images     string
	archives   []archive
	runc       string
	cni        string
}

// archive is one docker archive and its image names, as listed in build/images/images.json.
type archive struct {
	File  string   `json:"file"`
	Names []string `json:"names"`
}

// sandboxImage is the image of the container that holds a pod's namespaces.
const sandboxImage = "registry.wardlet.test/pause:1"

// findPrograms returns the files that a runtime of this checkout needs.
func findPrograms() (programs, error) {
	repository, err := findRepository()
	if err != nil {
		return programs{}, err
	}
	return programsIn(repository)
}

// programsIn returns all files that a runtime needs in a checkout. The error lists all that are
// missing.
func programsIn(repository string) (programs, error) {
	found := programs{repository: repository}
	var missing []string
	tool := func(name string) string {
		path := filepath.Join(repository, "build", "tools", name)
		if _, err := os.Stat(path); err != nil {
			missing = append(missing, path)
		}
		return path
	}
	found.containerd, found.ctr, found.images = tool("containerd"), tool("ctr"), tool("images")
	tool("containerd-shim-runc-v2")
	for _, name := range []string{"runc", "ip", "iptables", "iptables-save", "iptables-restore"} {
		path, err := lookSystem(name)
		if err != nil {
			missing = append(missing, name)
		}
		if name == "runc" {
			found.runc = path
		}
	}
	if found.cni = findPlugins(); found.cni == "" {
		missing = append(missing, "CNI plugins in "+strings.Join(pluginDirs(), " or "))
	}
	var err error
	found.archives, err = readArchives(filepath.Join(repository, "build", "images"))
	if err != nil {
		missing = append(missing, err.Error())
	}
	if len(missing) > 0 {
		return programs{}, fmt.Errorf("missing: %s; %s", strings.Join(missing, ", "), advice)
	}
	return found, nil
}

// findRepository searches the module's go.mod, from the working directory upwards.
func findRepository() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if declares(filepath.Join(dir, "go.mod"), module) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find the repository: no go.mod of %s in %s or above; run this inside a checkout", module, here)
		}
	}
}

// declares reports whether a go.mod file is the one of a module.
func declares(goMod, module string) bool {
	file, err := os.Open(goMod)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) == 2 && fields[0] == "module" {
			return fields[1] == module
		}
	}
	return false
}

// readArchives reads the index of the image directory and makes the paths in it absolute.
func readArchives(dir string) ([]archive, error) {
	data, err := os.ReadFile(filepath.Join(dir, "images.json"))
	if err != nil {
		return nil, err
	}
	var archives []archive
	if err := json.Unmarshal(data, &archives); err != nil {
		return nil, fmt.Errorf("%s/images.json: %w", dir, err)
	}
	for i := range archives {
		archives[i].File = filepath.Join(dir, archives[i].File)
		if _, err := os.Stat(archives[i].File); err != nil {
			return nil, err
		}
	}
	return archives, nil
}

// systemPath has the directories of programs that only root runs on Debian; an unprivileged PATH
// lacks them.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

func lookSystem(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for dir := range strings.SplitSeq(systemPath, ":") {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

func pluginDirs() []string { return []string{"/usr/lib/cni", "/opt/cni/bin"} }

// findPlugins returns the first directory that has CNI's bridge plugin.
func findPlugins() string {
	for _, dir := range pluginDirs() {
		if _, err := os.Stat(filepath.Join(dir, "bridge")); err == nil {
			return dir
		}
	}
	return ""
}
