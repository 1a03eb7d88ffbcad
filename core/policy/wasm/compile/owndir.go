package compile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ownDir makes a directory only its owner can enter. Where something is there
// that machine code may not be loaded from, unsafe says why; err is why there
// is no directory.
func ownDir(path string) (unsafe, err error) {
	if unsafe, err = owned(path); !errors.Is(err, fs.ErrNotExist) {
		return unsafe, err
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return owned(path)
}

func owned(path string) (unsafe, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return errors.New("not a directory, and links are not followed: remove it"), nil
	case !ok || int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("it belongs to user %d, the agent runs as %d: remove it, or change the owner", stat.Uid, os.Geteuid()), nil
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("its mode is %#o: others could put machine code into it; remove it, its content may not be trusted", info.Mode().Perm()), nil
	}
	return nil, nil
}

// ownDirs is ownDir for several, where it makes no difference what is wrong.
func ownDirs(paths ...string) error {
	for _, path := range paths {
		unsafe, err := ownDir(path)
		if err == nil && unsafe != nil {
			err = &fs.PathError{Op: "use", Path: path, Err: unsafe}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
