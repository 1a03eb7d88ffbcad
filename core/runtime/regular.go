package runtime

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openRegular opens a file that others than the agent may have made or replaced. It
// follows no link in the last place, neither opens devices, some of which do things
// then, nor waits for the other end of a pipe.
func openRegular(path string, flag int) (*os.File, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil { // another file may have taken its place
		err = regular(path, info)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, nil, err
	}
	return f, info, nil
}

// errIrregular is the error for what is no regular file.
var errIrregular = errors.New("is not a regular file")

func regular(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s %w, its mode is %v", path, errIrregular, info.Mode())
	}
	return nil
}
