package wasm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ownDir makes a directory only its owner can enter, or checks that path is
// one, of this process's user: machine code is loaded from it.
func ownDir(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return errors.New("not a directory, and links are not followed: remove it")
	case !ok || int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("it belongs to user %d, the agent runs as %d: remove it, or change the owner", stat.Uid, os.Geteuid())
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("its mode is %#o: others could put machine code into it; remove it, its content may not be trusted", info.Mode().Perm())
	}
	return nil
}

// errCache: the directory cannot be used at all.
var errCache = errors.New("the cache cannot be opened")

// cacheFault says whether the cache is why a module did not compile: a file of
// it is torn, or cannot be written.
func cacheFault(err error) bool {
	_, path := errors.AsType[*fs.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	return path || link || errors.Is(err, errCache) || strings.HasPrefix(err.Error(), "compilationcache: ")
}

// emptyCache removes what wazero keeps in the directory.
func emptyCache(dir string) error {
	kept, err := filepath.Glob(filepath.Join(dir, "wazero-*"))
	for _, path := range kept {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}
