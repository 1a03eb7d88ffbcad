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
	// installation matches no mark where there is none yet.
	installation string
	node         string
}

// nobody stands in where the state cannot be read: no installation ID is one
// character long, and a node name is needed to read manifests.
var nobody = identity{installation: "-", node: "unknown"}

// checkState opens a copy of the state, and of the second copy of who the node
// is: the directories themselves may be an agent's that runs.
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
	root, elsewhere := filepath.Join(temp, "state"), filepath.Join(temp, "identity")
	found, err := copyState(root, cfg.Paths.StateRoot, "state_root")
	if err != nil {
		return fail(err)
	}
	place := layoutOf(cfg).IdentityDir()
	if _, err := copyState(elsewhere, place, "pod_root"); err != nil {
		return fail(fmt.Errorf("second copy of the installation ID in %s: %w", place, err))
	}
	dir, err := state.Open(root, slog.New(slog.DiscardHandler), state.WithIdentity(elsewhere))
	if err != nil {
		return fail(errors.New(strings.NewReplacer("state directory "+root+": ", "", elsewhere, place).Replace(err.Error())))
	}
	defer dir.Close()
	id := identity{installation: dir.Installation()}
	var differs string
	if id.node, differs, err = dir.NodeName(cfg.NodeName, os.Hostname); err != nil {
		return fail(err)
	}

	findings := []Finding{{LevelOK, subject, "installation " + id.installation + ", node " + id.node}}
	switch {
	case dir.New():
		id.installation = nobody.installation
		findings[0].Message = "not there yet, the first start makes it; node " + id.node
	case !found:
		findings[0] = Finding{LevelWarn, subject, "not there; the next start makes it anew, for installation " + id.installation + ", node " + id.node +
			", as " + place + " says, and takes what runs as admitted"}
	}
	if differs != "" {
		findings = append(findings, Finding{LevelWarn, "state", differs})
	}
	for _, one := range []struct{ read, real string }{{root, cfg.Paths.StateRoot}, {elsewhere, place}} {
		corrupt, err := os.ReadDir(filepath.Join(one.read, "quarantine"))
		if err != nil {
			return fail(err)
		}
		for _, file := range corrupt {
			findings = append(findings, Finding{LevelFail, "state", filepath.Join(one.real, file.Name()) +
				" is corrupt; the next start moves it aside and has forgotten what only it said: restore it from a backup"})
		}
	}
	return id, findings
}

// copyState copies the mode and the files of a directory to one that it makes,
// not what lies deeper. found is false where there is none yet. The key of
// agent.toml says where it is.
func copyState(to, from, key string) (found bool, err error) {
	info, err := os.Lstat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, fmt.Errorf("not a directory, and links are not followed: name another %s, or remove it", key)
	}
	entries, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w; check as the user the agent runs as", err)
	}
	if err != nil {
		return false, err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
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
