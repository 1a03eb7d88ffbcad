// Package fakelogind is a D-Bus at a unix socket with systemd-logind and systemd on it, for tests.
//
// Comes in: calls over D-Bus, signals of a shutdown from clients, and what a test changes. Goes out:
// answers, signals of a shutdown, and the delay locks that clients have taken. Listen starts all
// goroutines, and Stop waits for them; after Start they end with the test.
package fakelogind

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"
)

// Logind is a D-Bus with systemd-logind and systemd.
type Logind struct {
	// fail reports a fault of the fake.
	fail     func(...any)
	path     string
	listener *net.UnixListener
	serving  sync.WaitGroup

	mu sync.Mutex
	// Limit is InhibitDelayMaxUSec, and Down is PreparingForShutdown.
	Limit uint64
	Down  bool
	// DropIn is the configuration that a reload reads, empty for none.
	DropIn string
	// Refuse is the name of the error of Inhibit, empty for none.
	Refuse string
	// conns are the connections. After stopped is set there are no more.
	conns   []*peer
	stopped bool
	// locks are the ends of the locks that the fake holds. Inhibits has a value for each lock.
	locks    []*os.File
	Inhibits chan Inhibition
}

// Inhibition are the arguments of a call of Inhibit, and the fake's end of the lock.
type Inhibition struct {
	What, Who, Why, Mode string
	lock                 *os.File
}

// Released returns when the agent has closed its end of the lock.
func (i Inhibition) Released(t *testing.T) {
	t.Helper()
	if err := i.lock.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if n, err := i.lock.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("the lock is not released: %d bytes, %v", n, err)
	}
}

// patience is how long Released waits at most.
const patience = 30 * time.Second

// Held reports whether the agent holds the lock.
func (i Inhibition) Held() (held bool) {
	conn, err := i.lock.SyscallConn()
	if err != nil {
		return false
	}
	err = conn.Control(func(fd uintptr) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		held = err == nil && n == 0
	})
	return held && err == nil
}

// Start starts a fake with a limit for delays of 5 s.
func Start(t *testing.T) *Logind {
	t.Helper()
	f := New(filepath.Join(t.TempDir(), "bus"), 5*time.Second, t.Error)
	if err := f.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Stop)
	return f
}

// New returns a fake for a socket at path, with a limit for delays. It serves nothing before Listen
// is called. fail is called with faults of the fake, from any goroutine.
func New(path string, limit time.Duration, fail func(...any)) *Logind {
	return &Logind{fail: fail, path: path, Limit: uint64(limit.Microseconds()), Inhibits: make(chan Inhibition, 100)}
}

// Address returns the address of the D-Bus.
func (f *Logind) Address() string { return "unix:path=" + f.path }

// Listen makes the D-Bus reachable, also again after Stop. The test must have one goroutine that
// calls both.
func (f *Logind) Listen() (err error) {
	f.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: f.path, Net: "unix"})
	if err != nil {
		return err
	}
	f.Set(func() { f.stopped = false })
	f.serving.Go(func() {
		for {
			conn, err := f.listener.AcceptUnix()
			if err != nil {
				return
			}
			f.Set(func() {
				if f.stopped {
					conn.Close()
					return
				}
				p := &peer{fake: f, conn: conn}
				f.conns = append(f.conns, p)
				f.serving.Go(p.serve)
			})
		}
	})
	return nil
}

// Stop ends the D-Bus and all connections.
func (f *Logind) Stop() {
	f.listener.Close()
	f.mu.Lock()
	for _, c := range f.conns {
		c.conn.Close()
	}
	f.conns, f.stopped = nil, true
	f.mu.Unlock()
	f.serving.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, lock := range f.locks {
		lock.Close()
	}
	f.locks = nil
}

// Set changes fields of the fake.
func (f *Logind) Set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// Prepare begins or cancels a shutdown, and signals it.
func (f *Logind) Prepare(down bool) {
	f.Set(func() { f.Down = down })
	f.Signal(Owner, down)
}

// Owner is the unique name of logind.
const Owner = ":1.1"

const (
	path               = dbus.ObjectPath("/org/freedesktop/login1")
	manager            = "org.freedesktop.login1.Manager"
	prepareForShutdown = "PrepareForShutdown"
)

// Signal sends the signal of a shutdown to all connections.
func (f *Logind) Signal(sender string, body ...any) {
	f.mu.Lock()
	conns := f.conns
	f.mu.Unlock()
	for _, c := range conns {
		c.send(&dbus.Message{Type: dbus.TypeSignal, Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldPath: dbus.MakeVariant(path), dbus.FieldInterface: dbus.MakeVariant(manager),
			dbus.FieldMember: dbus.MakeVariant(prepareForShutdown), dbus.FieldSender: dbus.MakeVariant(sender),
		}, Body: body})
	}
}

// peer is one connection to the fake.
type peer struct {
	fake *Logind
	conn *net.UnixConn

	mu     sync.Mutex
	serial uint32
}

// serve authenticates the client and answers its calls until the connection ends.
func (p *peer) serve() {
	in := bufio.NewReader(p.conn)
	if !p.authenticate(in) {
		return
	}
	for {
		call, err := dbus.DecodeMessage(in)
		if err != nil {
			return
		}
		p.answer(call)
	}
}

func (p *peer) authenticate(in *bufio.Reader) bool {
	if null, err := in.ReadByte(); err != nil || null != 0 {
		return false
	}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return false
		}
		answer := "ERROR"
		switch words := strings.Fields(line); {
		case len(words) == 1 && words[0] == "AUTH":
			answer = "REJECTED EXTERNAL"
		case len(words) >= 2 && words[0] == "AUTH" && words[1] == "EXTERNAL", len(words) > 0 && words[0] == "DATA":
			answer = "OK 1234deadbeef1234deadbeef1234dead"
		case len(words) == 1 && words[0] == "NEGOTIATE_UNIX_FD":
			answer = "AGREE_UNIX_FD"
		case len(words) == 1 && words[0] == "BEGIN":
			return true
		}
		if _, err := p.conn.Write([]byte(answer + "\r\n")); err != nil {
			return false
		}
	}
}

var limitLine = regexp.MustCompile(`(?m)^InhibitDelayMaxSec=(\d+)$`)

func (p *peer) answer(call *dbus.Message) {
	f := p.fake
	member, _ := call.Headers[dbus.FieldMember].Value().(string)
	switch member {
	case prepareForShutdown: // a signal of a client: logind does as if the machine went down
		if call.Type != dbus.TypeSignal || len(call.Body) != 1 {
			return
		}
		if down, ok := call.Body[0].(bool); ok {
			f.Prepare(down)
		}
	case "Hello":
		p.reply(call, ":1.7")
	case "AddMatch", "RemoveMatch":
		p.reply(call)
	case "GetNameOwner":
		p.reply(call, Owner)
	case "Get":
		f.mu.Lock()
		value := dbus.MakeVariant(f.Limit)
		if call.Body[1] == "PreparingForShutdown" {
			value = dbus.MakeVariant(f.Down)
		}
		f.mu.Unlock()
		p.reply(call, value)
	case "KillUnit":
		f.mu.Lock()
		text, _ := os.ReadFile(f.DropIn)
		if found := limitLine.FindSubmatch(text); found != nil {
			seconds, _ := strconv.ParseUint(string(found[1]), 10, 32)
			f.Limit = seconds * 1_000_000
		}
		f.mu.Unlock()
		p.reply(call)
	case "Inhibit":
		p.inhibit(call)
	default:
		p.fail(call, "org.freedesktop.DBus.Error.UnknownMethod")
	}
}

func (p *peer) inhibit(call *dbus.Message) {
	f := p.fake
	f.mu.Lock()
	refuse := f.Refuse
	f.mu.Unlock()
	if refuse != "" {
		p.fail(call, refuse)
		return
	}
	own, theirs, err := os.Pipe()
	if err != nil {
		f.fail(err)
		return
	}
	p.reply(call, dbus.UnixFD(theirs.Fd()))
	theirs.Close()
	text := func(i int) string { s, _ := call.Body[i].(string); return s }
	f.Set(func() { f.locks = append(f.locks, own) })
	f.Inhibits <- Inhibition{What: text(0), Who: text(1), Why: text(2), Mode: text(3), lock: own}
}

func (p *peer) reply(call *dbus.Message, body ...any) {
	p.send(&dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldReplySerial: dbus.MakeVariant(call.Serial()), dbus.FieldSender: dbus.MakeVariant(Owner),
	}, Body: body})
}

func (p *peer) fail(call *dbus.Message, name string) {
	p.send(&dbus.Message{Type: dbus.TypeError, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldReplySerial: dbus.MakeVariant(call.Serial()), dbus.FieldErrorName: dbus.MakeVariant(name), dbus.FieldSender: dbus.MakeVariant(Owner),
	}})
}

// send writes a message, with its file descriptors. An error means that the client is gone.
func (p *peer) send(m *dbus.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(m.Body) > 0 {
		m.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(m.Body...))
	}
	if count, err := m.CountFds(); err == nil && count > 0 {
		m.Headers[dbus.FieldUnixFDs] = dbus.MakeVariant(uint32(count))
	}
	var text bytes.Buffer
	fds, err := m.EncodeToWithFDs(&text, binary.LittleEndian)
	if err != nil {
		p.fake.fail(err)
		return
	}
	p.serial++
	binary.LittleEndian.PutUint32(text.Bytes()[8:], p.serial)
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	_, _, _ = p.conn.WriteMsgUnix(text.Bytes(), rights, nil)
}
