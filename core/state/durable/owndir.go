package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// OwnDir makes a directory that only its owner can enter, or checks that path is such a directory
// of this process's user. Missing parent directories are made in the same way, because the state
// directory may be removed while the agent runs.
func OwnDir(path string) error { return OwnDirOf(path, "state_root") }

// OwnDirOf is OwnDir for a directory whose path is configured by the given key of agent.toml.
func OwnDirOf(path, key string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("not a directory, and links are not followed: name another %s, or remove it", key)
	case !ok || int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("it belongs to user %d, the agent runs as %d: name another %s, or change the owner", stat.Uid, os.Geteuid(), key)
	case info.Mode().Perm() != 0o700:
		return fmt.Errorf("its mode is %#o, so others than its owner may enter: name a directory of its own as %s, or chmod 0700 it", info.Mode().Perm(), key)
	}
	return nil
}
