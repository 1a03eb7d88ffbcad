package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/api"
)

// Listen opens the socket with mode 0600. If the directory does not exist, Listen creates it with
// mode 0700. It replaces the socket of an agent that died. A socket that still answers, or a file
// that is no socket, is left unchanged, and Listen returns an error.
func Listen(socket string) (net.Listener, error) {
	dir := filepath.Dir(socket)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("local API: cannot make the directory of %s: %w", socket, err)
	}
	if err := checkDir(dir); err != nil {
		return nil, fmt.Errorf("local API: %w; give paths.socket a directory of its own", err)
	}
	if err := removeStale(socket); err != nil {
		return nil, fmt.Errorf("local API: %w", err)
	}
	config := net.ListenConfig{Control: restrict}
	l, err := config.Listen(context.Background(), "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("local API: %w", err)
	}
	return l, nil
}

// restrict sets the mode 0600 of a socket before the socket has a name, so that it never has
// another mode under its name.
func restrict(_, _ string, conn syscall.RawConn) (err error) {
	if controlErr := conn.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), 0o600) }); controlErr != nil {
		return controlErr
	}
	return err
}

// checkDir refuses a directory in which another user could create another socket.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("directory %s can be written by others (mode %04o)", dir, info.Mode().Perm())
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("directory %s belongs to user %d", dir, st.Uid)
	}
	return nil
}

func removeStale(socket string) error {
	info, err := os.Lstat(socket)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s exists and is no socket; remove it or set another paths.socket", socket)
	}
	conn, err := net.DialTimeout("unix", socket, time.Second)
	switch {
	case err == nil:
		conn.Close()
		return fmt.Errorf("another process answers on %s; stop it or set another paths.socket", socket)
	case !errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("cannot tell whether the agent of %s still runs: %w", socket, err)
	}
	return os.Remove(socket)
}

// peer is the user at the other end of a connection.
type peer struct {
	uid uint32
	err error
}

type (
	peerKey struct{}
	connKey struct{}
)

// withConn adds c and its peer to the context of its requests.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(context.WithValue(ctx, connKey{}, c), peerKey{}, peerOf(c))
}

// peerOf asks the kernel for the user that connected.
func peerOf(c net.Conn) peer {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return peer{err: fmt.Errorf("%s is no Unix socket", c.LocalAddr().Network())}
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return peer{err: err}
	}
	var p peer
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil {
			p.err = err
			return
		}
		p.uid = cred.Uid
	})
	if err != nil {
		p.err = err
	}
	return p
}

// UserOf returns the name of the user that made a request on the local socket: root, or uid: and a
// number. It returns no groups.
func UserOf(r *http.Request) (name string, groups []string) {
	p, ok := r.Context().Value(peerKey{}).(peer)
	switch {
	case !ok || p.err != nil:
		return "", nil
	case p.uid == 0:
		return api.LocalRoot, nil
	}
	return fmt.Sprintf("uid:%d", p.uid), nil
}

// ownerOnly admits root and the user owner. The socket's mode has the same effect, but may be
// changed.
func ownerOnly(owner uint32, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := r.Context().Value(peerKey{}).(peer)
		switch {
		case !ok || p.err != nil:
			refuse(w, http.StatusForbidden, fmt.Sprintf("cannot tell who asks: %v", p.err))
		case p.uid != 0 && p.uid != owner:
			refuse(w, http.StatusForbidden, fmt.Sprintf("user %d may not ask; only root and the agent's own user (%d) may", p.uid, owner))
		default:
			next.ServeHTTP(w, r)
		}
	})
}
