package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	v1 "k8s.io/api/core/v1"
)

// setupHostPath checks the target of a hostPath, following links, and creates it if its type
// requires that.
func setupHostPath(source *v1.HostPathVolumeSource) error {
	path := source.Path
	if !filepath.IsAbs(path) {
		return fmt.Errorf("hostPath %q is not absolute", path)
	}
	if source.Type == nil || *source.Type == v1.HostPathUnset {
		return nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		switch *source.Type {
		case v1.HostPathDirectoryOrCreate:
			err = os.MkdirAll(path, 0o755)
		case v1.HostPathFileOrCreate:
			err = createFile(path)
		}
		// Another pod may have created it in the meantime.
		if err == nil || errors.Is(err, os.ErrExist) {
			info, err = os.Stat(path)
		}
	}
	if err != nil {
		return fmt.Errorf("hostPath of type %s: %w", *source.Type, err)
	}
	return checkHostPath(path, *source.Type, info.Mode())
}

func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

func checkHostPath(path string, want v1.HostPathType, mode fs.FileMode) error {
	var ok bool
	switch want {
	case v1.HostPathDirectory, v1.HostPathDirectoryOrCreate:
		ok = mode.IsDir()
	case v1.HostPathFile, v1.HostPathFileOrCreate:
		ok = mode.IsRegular()
	case v1.HostPathSocket:
		ok = mode&fs.ModeSocket != 0
	case v1.HostPathCharDev:
		ok = mode&fs.ModeCharDevice != 0
	case v1.HostPathBlockDev:
		ok = mode&fs.ModeDevice != 0 && mode&fs.ModeCharDevice == 0
	default:
		return fmt.Errorf("hostPath type %q is not known", want)
	}
	if !ok {
		return fmt.Errorf("hostPath %s is not of type %s but %s", path, want, mode.Type())
	}
	return nil
}
