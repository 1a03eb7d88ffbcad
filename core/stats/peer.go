package stats

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// peerAgain is how often the runtime's process is looked up. peerTime limits the connection for it.
	peerAgain = time.Minute
	peerTime  = time.Second
)

// peer is the process that listens on a socket.
type peer struct {
	pid    int
	looked time.Time
}

// process returns the process that listens on a socket, 0 if it is unknown. A result is kept for a
// minute.
func (p *peer) process(socket string, now time.Time) int {
	if socket == "" {
		return 0
	}
	if age := now.Sub(p.looked); p.looked.IsZero() || age < 0 || age >= peerAgain {
		p.pid, p.looked = listener(socket), now
	}
	return p.pid
}

// listener returns the process that called listen for a unix socket. It is 0 if the process is in
// another PID namespace, or nothing listens.
func listener(socket string) int {
	conn, err := net.DialTimeout("unix", socket, peerTime)
	if err != nil {
		return 0
	}
	defer conn.Close()
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return 0
	}
	raw, err := unixConn.SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	err = raw.Control(func(fd uintptr) {
		if credentials, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(credentials.Pid)
		}
	})
	if err != nil {
		return 0
	}
	return pid
}
