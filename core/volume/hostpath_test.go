package volume

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
)

func TestHostPathTypes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	check(t, os.Mkdir(at("dir"), 0o700))
	check(t, os.WriteFile(at("file"), nil, 0o600))
	check(t, unix.Mkfifo(at("fifo"), 0o600))
	check(t, os.Symlink("dir", at("link")))
	check(t, os.Symlink("loop", at("loop")))
	listener, err := net.Listen("unix", at("socket"))
	check(t, err)
	t.Cleanup(func() { listener.Close() })

	tests := map[string]struct {
		path string
		kind v1.HostPathType
		err  string
	}{
		"no type checks nothing":           {at("missing"), v1.HostPathUnset, ""},
		"no type and no absolute path":     {"missing", v1.HostPathUnset, "not absolute"},
		"directory":                        {at("dir"), v1.HostPathDirectory, ""},
		"directory through a link":         {at("link"), v1.HostPathDirectory, ""},
		"directory that is missing":        {at("missing"), v1.HostPathDirectory, "no such file"},
		"directory that is a file":         {at("file"), v1.HostPathDirectory, "is not of type Directory"},
		"directory to be made that is one": {at("dir"), v1.HostPathDirectoryOrCreate, ""},
		"directory to be made in a file":   {at("file/sub"), v1.HostPathDirectoryOrCreate, "not a directory"},
		"directory to be made, but a file": {at("file"), v1.HostPathDirectoryOrCreate, "is not of type DirectoryOrCreate"},
		"file":                             {at("file"), v1.HostPathFile, ""},
		"file that is a FIFO":              {at("fifo"), v1.HostPathFile, "is not of type File"},
		"file to be made, but a FIFO":      {at("fifo"), v1.HostPathFileOrCreate, "is not of type FileOrCreate"},
		"file to be made in no directory":  {at("missing/file"), v1.HostPathFileOrCreate, "no such file"},
		"socket":                           {at("socket"), v1.HostPathSocket, ""},
		"socket that is a file":            {at("file"), v1.HostPathSocket, "is not of type Socket"},
		"character device":                 {"/dev/null", v1.HostPathCharDev, ""},
		"character device, but a file":     {at("file"), v1.HostPathCharDev, "is not of type CharDevice"},
		"block device, but a character":    {"/dev/null", v1.HostPathBlockDev, "is not of type BlockDevice"},
		"a link that leads to itself":      {at("loop"), v1.HostPathFile, "too many levels"},
		"an unknown type":                  {at("dir"), "Odd", `type "Odd" is not known`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, _ := newVolumes(t)
			err := v.Setup(t.Context(), newPod(hostPath("host", tt.path, tt.kind)))
			if tt.err == "" {
				check(t, err)
			} else {
				wantError(t, err, tt.err)
			}
		})
	}
	if _, err := os.Lstat(at("missing")); err == nil {
		t.Error("something was made that no type asked for")
	}
}

func TestHostPathMakesWhatItsTypeSays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v, _ := newVolumes(t)
	p := newPod(
		hostPath("d", filepath.Join(dir, "a", "b"), v1.HostPathDirectoryOrCreate),
		hostPath("f", filepath.Join(dir, "file"), v1.HostPathFileOrCreate),
	)
	check(t, v.Setup(t.Context(), p))
	check(t, v.Setup(t.Context(), p))
	// 0755 and 0644, and the umask.
	wantMode(t, filepath.Join(dir, "a", "b"), os.ModeDir|0o700)
	wantMode(t, filepath.Join(dir, "file"), 0o600)
	check(t, v.Remove(t.Context(), p.UID))
	wantMode(t, filepath.Join(dir, "file"), 0o600)
}
