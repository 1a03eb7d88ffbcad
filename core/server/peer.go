package server

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/api"
)

// peer is who is at the other end of a connection.
type peer struct {
	uid uint32
	err error
}

type (
	peerKey struct{}
	connKey struct{}
)

// withConn puts c and its peer into the context of its requests.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(context.WithValue(ctx, connKey{}, c), peerKey{}, peerOf(c))
}

// peerOf asks the kernel, which remembers who connected.
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

// UserOf returns the name of the user who made a request on the local socket: root, or uid: and a number. It has no groups.
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

// ownerOnly lets root and the user owner pass. The socket's mode says the same;
// this holds even if the mode is widened.
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
