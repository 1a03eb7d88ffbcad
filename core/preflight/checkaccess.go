package preflight

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/wardlet/wardlet/core/config"
)

// access checks which users may write to a path that determines the node's behavior.
type access struct {
	subject string
	// path is a file or a directory. The check includes the files in a directory.
	path string
	// shared means that the path is a tenant's: the tenant's groups may write there, and any user may
	// own it.
	shared bool
}

// CheckFile warns of a configuration that other users may write.
func CheckFile(path string) []Finding {
	return access{subject: "configuration " + path, path: path}.check()
}

// checkAccess warns of policies and manifests that other users may write. Policies that must be
// signed are not checked.
func checkAccess(cfg *config.Config) (findings []Finding) {
	if cfg.Policy.Dir != "" && !cfg.Policy.RequireSignature {
		findings = append(findings, access{subject: "policies " + cfg.Policy.Dir, path: cfg.Policy.Dir}.check()...)
	}
	for i := range cfg.Tenants {
		if t := &cfg.Tenants[i]; t.PolicyDir != "" && !t.RequireSignature {
			a := access{subject: fmt.Sprintf("policies %s of tenant %s", t.PolicyDir, t.Name), path: t.PolicyDir, shared: true}
			findings = append(findings, a.check()...)
		}
	}
	for i := range cfg.Sources {
		if s := &cfg.Sources[i]; s.Kind == config.KindFile {
			findings = append(findings, access{subject: "source " + s.Name, path: s.Path, shared: s.Tenant != ""}.check()...)
		}
	}
	return findings
}

// check warns of the first path that other users may write, and counts the rest. Other checks
// report paths that cannot be read.
func (a access) check() []Finding {
	faults := 0
	var first string
	look := func(path string) {
		if fault := a.fault(path); fault != "" {
			if faults++; faults == 1 {
				first = path + " " + fault
			}
		}
	}
	look(a.path)
	entries, _ := os.ReadDir(a.path)
	for _, e := range entries {
		if e.Type().IsRegular() {
			look(filepath.Join(a.path, e.Name()))
		}
	}
	if faults == 0 {
		return nil
	}
	if faults > 1 {
		first += fmt.Sprintf(", and so %d more", faults-1)
	}
	return []Finding{{LevelWarn, a.subject, first + "; who can write there decides what this node does: let its owner be root or the agent's user, and chmod go-w it"}}
}

// fault describes which other users may write a path, "" for none.
func (a access) fault(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	forbidden := fs.FileMode(0o022)
	if a.shared {
		forbidden = 0o002
	}
	if info.Mode().Perm()&forbidden != 0 {
		return fmt.Sprintf("can be written by others (mode %04o)", info.Mode().Perm())
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !a.shared && ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return fmt.Sprintf("belongs to user %d", stat.Uid)
	}
	return ""
}
