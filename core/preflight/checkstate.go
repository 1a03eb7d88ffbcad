package preflight

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/state"
)

// identity is the identity of the agent that would run here.
type identity struct {
	// installation is an ID that matches no mark if there is none yet.
	installation string
	node         string
	// unclear means that pods in the runtime may be this installation's although their marks differ.
	unclear bool
}

// noIdentity is the identity if the state cannot be read. No installation ID has only one
// character, and manifests cannot be read without a node name.
var noIdentity = identity{installation: "-", node: "unknown", unclear: true}

// checkState opens a copy of the state, and of the identity's second copy, because a running agent
// may use the directories themselves. runs means that an agent is running.
func checkState(cfg *config.Config, runs bool) (identity, []Finding) {
	subject := "state " + cfg.Paths.StateRoot
	fail := func(err error) (identity, []Finding) {
		return noIdentity, []Finding{{LevelFail, subject, err.Error()}}
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
	place := parts.Layout(cfg).IdentityDir()
	fault := copyIdentity(elsewhere, place)
	options := []state.Option{state.WithIdentity(elsewhere)}
	if fault != nil {
		options = nil
	}
	dir, err := state.Open(root, slog.New(slog.DiscardHandler), options...)
	names := strings.NewReplacer("state directory "+root+": ", "", elsewhere, place)
	if err != nil {
		return fail(errors.New(names.Replace(err.Error())))
	}
	defer dir.Close()
	if fault != nil && dir.New() {
		return fail(fault)
	}
	if fault == nil {
		fault = dir.SecondCopy()
	}
	id := identity{installation: dir.Installation()}
	var differs string
	if id.node, differs, err = dir.NodeName(cfg.NodeName, os.Hostname); err != nil {
		return fail(err)
	}

	findings := []Finding{{LevelOK, subject, "installation " + id.installation + ", node " + id.node}}
	switch {
	case dir.New() && runs:
		id.installation, id.unclear = noIdentity.installation, true
		findings[0] = Finding{LevelFail, subject, "not there, though an agent runs, and neither is the second copy of the installation ID in " + place +
			": the next start takes what runs for another's. Restore one of both from a backup; without one, " +
			"take the manifests of all pods away, so that the agent ends them, before it is started again"}
	case dir.New():
		id.installation = noIdentity.installation
		findings[0].Message = "not there yet, the first start makes it; node " + id.node
	case !found:
		findings[0] = Finding{LevelWarn, subject, "not there; the next start makes it anew, for installation " + id.installation + ", node " + id.node +
			", as " + place + " says, and takes what runs as admitted"}
	}
	if err := podsDirFault(parts.Layout(cfg).PodsDir()); err != nil {
		findings = append(findings, Finding{LevelFail, "pod_root " + cfg.Paths.PodRoot, err.Error() + ": the agent cannot make the directory of the pods"})
	} else if fault != nil {
		findings = append(findings, Finding{LevelWarn, "state", names.Replace(fault.Error()) +
			"; the agent goes on without it, and if the state is lost, running pods become foreign: mend it and start the agent again"})
	}
	if differs != "" {
		findings = append(findings, Finding{LevelWarn, "state", differs})
	}
	corrupt, err := corruptFindings(corruptPlace{root, cfg.Paths.StateRoot, true}, corruptPlace{elsewhere, place, dir.New()})
	if err != nil {
		return fail(err)
	}
	return id, append(findings, corrupt...)
}

// corruptPlace is a directory whose copy was opened. lost means that the content of a corrupt file
// there exists nowhere else.
type corruptPlace struct {
	copied, path string
	lost         bool
}

// corruptFindings reports the corrupt files that were moved aside when the copies were opened.
func corruptFindings(places ...corruptPlace) (findings []Finding, err error) {
	for _, place := range places {
		files, err := os.ReadDir(filepath.Join(place.copied, "quarantine"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, file := range files {
			f := Finding{LevelWarn, "state", filepath.Join(place.path, file.Name()) + " is corrupt; it is written anew at the next start, as the state says the same"}
			if place.lost {
				f.Level = LevelFail
				f.Message = filepath.Join(place.path, file.Name()) + " is corrupt; the next start moves it aside, and what no other file says is forgotten: restore it from a backup"
			}
			findings = append(findings, f)
		}
	}
	return findings, nil
}

// copyIdentity copies the second copy of the identity. If there is none yet, it returns an error if
// an agent could not create it, as far as that is known.
func copyIdentity(to, place string) error {
	found, err := copyState(to, place, "pod_root")
	if err == nil && !found {
		err = roomFor(place)
	}
	if err != nil {
		return fmt.Errorf("second copy of the installation ID in %s: %w", place, err)
	}
	return nil
}

// podsDirFault returns why the directory of the pods is missing or cannot be created.
func podsDirFault(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return roomFor(path)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s: %w", path, syscall.ENOTDIR)
	}
	return err
}

// roomFor returns why a directory cannot be created, nil if it seems possible. The check may run as
// another user than the agent, so a denied permission is ignored.
func roomFor(path string) error {
	above := filepath.Dir(path)
	info, err := os.Stat(above)
	for errors.Is(err, fs.ErrNotExist) {
		above = filepath.Dir(above)
		info, err = os.Stat(above)
	}
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	const enter, write = 1, 2
	if err == nil {
		err = syscall.Access(above, enter|write)
	}
	if err != nil {
		if errors.Is(err, syscall.EACCES) {
			return nil
		}
		return fmt.Errorf("%s: %w", above, err)
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(above, &disk); err != nil {
		return fmt.Errorf("%s: %w", above, err)
	}
	if disk.Blocks > 0 && disk.Bfree == 0 || disk.Files > 0 && disk.Ffree == 0 {
		return fmt.Errorf("%s: %w", above, syscall.ENOSPC)
	}
	return nil
}

// copyState copies the mode and the regular files of a directory to a new one. It creates a
// directory for each entry that is no regular file, and copies nothing from deeper levels. found is
// false if the directory does not exist. key is the key of agent.toml for the directory.
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
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		if !e.Type().IsRegular() {
			// Its type does not matter to the agent, so it is not opened.
			if err := os.Mkdir(filepath.Join(to, e.Name()), 0o700); err != nil {
				return false, err
			}
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
