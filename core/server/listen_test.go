package server

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestListenMakesAnOwnerOnlySocket(t *testing.T) {
	t.Parallel()
	socket := socketPath(t)
	l, err := Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, want := range map[string]os.FileMode{filepath.Dir(socket): 0o700, socket: 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("mode of %s: %04o, want %04o", path, got, want)
		}
	}
}

func TestListenReplacesTheSocketOfADeadAgent(t *testing.T) {
	t.Parallel()
	socket := socketPath(t)
	dead, err := Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	dead.Close()
	l, err := Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func TestListenRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(t *testing.T, socket string)
		want    string
	}{
		"a socket somebody answers on": {
			func(t *testing.T, socket string) {
				t.Helper()
				l, err := Listen(socket)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { l.Close() })
			},
			"local API: another process answers on SOCKET; stop it or set another paths.socket",
		},
		"a file that is no socket": {
			func(t *testing.T, socket string) {
				t.Helper()
				mkdir(t, filepath.Dir(socket), 0o700)
				if err := os.WriteFile(socket, []byte("keep"), 0o600); err != nil {
					t.Fatal(err)
				}
			},
			"local API: SOCKET exists and is no socket; remove it or set another paths.socket",
		},
		"a directory others can write to": {
			func(t *testing.T, socket string) {
				t.Helper()
				mkdir(t, filepath.Dir(socket), 0o777)
			},
			"local API: directory DIR can be written by others (mode 0777); give paths.socket a directory of its own",
		},
		"a directory that is a file": {
			func(t *testing.T, socket string) {
				t.Helper()
				if err := os.WriteFile(filepath.Dir(socket), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			},
			"local API: cannot make the directory of SOCKET: mkdir DIR: not a directory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := socketPath(t)
			test.prepare(t, socket)
			before, _ := os.ReadFile(socket)
			l, err := Listen(socket)
			if err == nil {
				l.Close()
				t.Fatal("no error")
			}
			got := strings.NewReplacer(socket, "SOCKET", filepath.Dir(socket), "DIR").Replace(err.Error())
			if got != test.want {
				t.Errorf("error:\n%s\nwant:\n%s", got, test.want)
			}
			if after, _ := os.ReadFile(socket); string(after) != string(before) {
				t.Error("what was there changed")
			}
		})
	}
}

// mkdir makes a directory with the given mode, whatever the umask.
func mkdir(t *testing.T, dir string, mode os.FileMode) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
}
