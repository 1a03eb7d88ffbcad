package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/state"
)

// identity is who an agent would be.
type identity struct {
	// installation matches no mark where there is no state yet.
	installation string
	node         string
}

// nobody stands in where the state cannot be read: no installation ID is one
// character long, and a node name is needed to read manifests.
var nobody = identity{installation: "-", node: "unknown"}

// checkState opens a copy of the state: the directory itself may be an agent's
// that runs.
func checkState(cfg *config.Config) (identity, []Finding) {
	subject := "state " + cfg.Paths.StateRoot
	fail := func(err error) (identity, []Finding) {
		return nobody, []Finding{{LevelFail, subject, err.Error()}}
	}
	temp, err := os.MkdirTemp("", "wardlet-check-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(temp)
	found, err := copyState(temp, cfg.Paths.StateRoot)
	if err != nil {
		return fail(err)
	}
	dir, err := state.Open(temp, slog.New(slog.DiscardHandler))
	if err != nil {
		return fail(errors.New(strings.ReplaceAll(err.Error(), "state directory "+temp+": ", "")))
	}
	defer dir.Close()
	id := identity{installation: dir.Installation()}
	if !found {
		id.installation = nobody.installation
	}
	var differs string
	if id.node, differs, err = dir.NodeName(cfg.NodeName, os.Hostname); err != nil {
		return fail(err)
	}

	findings := []Finding{{LevelOK, subject, "installation " + id.installation + ", node " + id.node}}
	if !found {
		findings[0].Message = "not there yet, the first start makes it; node " + id.node
	}
	if differs != "" {
		findings = append(findings, Finding{LevelWarn, "state", differs})
	}
	corrupt, err := os.ReadDir(filepath.Join(temp, "quarantine"))
	if err != nil {
		return fail(err)
	}
	for _, file := range corrupt {
		findings = append(findings, Finding{LevelFail, "state", filepath.Join(cfg.Paths.StateRoot, file.Name()) +
			" is corrupt; the next start moves it aside and has forgotten what it said: restore it from a backup"})
	}
	return id, findings
}

// copyState copies the mode and the files of a state directory, not what lies
// deeper. found is false where there is none yet.
func copyState(to, from string) (found bool, err error) {
	info, err := os.Lstat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, errors.New("not a directory, and links are not followed: name another state_root, or remove it")
	}
	entries, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w; check as the user the agent runs as", err)
	}
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != ".json" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			return false, err
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), data, 0o600); err != nil {
			return false, err
		}
	}
	return true, os.Chmod(to, info.Mode().Perm())
}
