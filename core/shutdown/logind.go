package shutdown

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"
)

// The names of logind and systemd on the system bus.
const (
	loginName      = "org.freedesktop.login1"
	loginPath      = dbus.ObjectPath("/org/freedesktop/login1")
	loginManager   = "org.freedesktop.login1.Manager"
	shutdownSignal = "PrepareForShutdown"
	systemdName    = "org.freedesktop.systemd1"
	systemdPath    = dbus.ObjectPath("/org/freedesktop/systemd1")
	systemdManager = "org.freedesktop.systemd1.Manager"
	loginUnit      = "systemd-logind.service"
)

// callTimeout limits the time of a connection attempt and of each call.
const callTimeout = 30 * time.Second

// Bus is a connection to systemd-logind over D-Bus.
type Bus struct {
	conn      *dbus.Conn
	login     dbus.BusObject
	shutdowns chan bool
	// done is closed when the goroutine that forwards signals has ended.
	done chan struct{}
}

// Connect connects to the D-Bus at address, empty for the system bus, and subscribes to the signals
// of logind there. The connection ends with ctx, too. Errors say what to do.
func Connect(ctx context.Context, address string) (_ *Bus, err error) {
	connect := func(opts ...dbus.ConnOption) (*dbus.Conn, error) { return dbus.Connect(address, opts...) }
	if address == "" {
		connect = dbus.ConnectSystemBus
	}
	ctx, cancel := context.WithCancel(ctx)
	slow := time.AfterFunc(callTimeout, cancel) // not a deadline: the connection lives on with ctx
	conn, err := connect(dbus.WithContext(ctx), dbus.WithSignalHandler(dbus.NewSequentialSignalHandler()),
		dbus.WithAuth(dbus.AuthExternal(strconv.Itoa(os.Geteuid()))))
	if err != nil {
		cancel()
		return nil, fmt.Errorf("D-Bus cannot be reached: %w; shutdown_grace_period and shutdown_by_priority of [node] need systemd-logind: start dbus and systemd-logind, or leave these keys out", err)
	}
	context.AfterFunc(conn.Context(), cancel)
	b := &Bus{conn: conn, login: conn.Object(loginName, loginPath), shutdowns: make(chan bool), done: make(chan struct{})}
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	go b.forward(signals)
	defer func() {
		if err != nil {
			b.Close()
		}
	}()
	call, end := context.WithTimeout(ctx, callTimeout)
	defer end()
	err = conn.AddMatchSignalContext(call, dbus.WithMatchSender(loginName), dbus.WithMatchObjectPath(loginPath),
		dbus.WithMatchInterface(loginManager), dbus.WithMatchMember(shutdownSignal))
	if err != nil {
		return nil, fmt.Errorf("the signals of systemd-logind cannot be subscribed to: %w", err)
	}
	if !slow.Stop() {
		return nil, errors.New("D-Bus does not answer in time; look at the log of dbus")
	}
	return b, nil
}

// Close ends the connection and waits for its signals.
func (b *Bus) Close() error {
	err := b.conn.Close()
	<-b.done
	return err
}

// forward passes the signals of logind on. Every user of the machine can send the signal to the
// agent; only that of the process that owns logind's name counts.
func (b *Bus) forward(signals <-chan *dbus.Signal) {
	defer close(b.done)
	defer close(b.shutdowns)
	for s := range signals {
		if s.Name != loginManager+"."+shutdownSignal || s.Path != loginPath || len(s.Body) == 0 {
			continue
		}
		down, ok := s.Body[0].(bool)
		if !ok || !b.isLogind(s.Sender) {
			continue
		}
		select {
		case b.shutdowns <- down:
		case <-b.conn.Context().Done():
			return
		}
	}
}

// isLogind reports whether a unique name on the bus is that of logind.
func (b *Bus) isLogind(sender string) bool {
	ctx, cancel := context.WithTimeout(b.conn.Context(), callTimeout)
	defer cancel()
	var owner string
	err := b.conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetNameOwner", 0, loginName).Store(&owner)
	return err == nil && owner == sender
}

// Shutdowns implements Logind.
func (b *Bus) Shutdowns() <-chan bool { return b.shutdowns }

// property reads a property of logind.
func (b *Bus) property(ctx context.Context, name string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var v dbus.Variant
	err := b.login.CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, loginManager, name).Store(&v)
	if err == nil {
		err = v.Store(into)
	}
	if err != nil {
		return fmt.Errorf("reading %s of systemd-logind: %w; is systemd-logind running?", name, err)
	}
	return nil
}

// InhibitDelay implements Logind.
func (b *Bus) InhibitDelay(ctx context.Context) (time.Duration, error) {
	var micros uint64
	if err := b.property(ctx, "InhibitDelayMaxUSec", &micros); err != nil {
		return 0, err
	}
	return time.Duration(min(micros, math.MaxInt64/uint64(time.Microsecond))) * time.Microsecond, nil
}

// ShuttingDown implements Logind.
func (b *Bus) ShuttingDown(ctx context.Context) (bool, error) {
	var down bool
	err := b.property(ctx, "PreparingForShutdown", &down)
	return down, err
}

// Inhibit implements Logind. The lock is a file descriptor: logind also releases it if the agent
// ends.
func (b *Bus) Inhibit(ctx context.Context) (io.Closer, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var fd dbus.UnixFD
	err := b.login.CallWithContext(ctx, loginManager+".Inhibit", 0, "shutdown", "wardlet", "Pods terminate before the machine shuts down", "delay").Store(&fd)
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(int(fd))
	return os.NewFile(uintptr(fd), "delay lock of systemd-logind"), nil
}

// Reload implements Logind. A hang-up signal makes logind read its configuration again.
func (b *Bus) Reload(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := b.conn.Object(systemdName, systemdPath).CallWithContext(ctx, systemdManager+".KillUnit", 0, loginUnit, "all", int32(unix.SIGHUP)).Err
	if err != nil {
		return fmt.Errorf("reloading the configuration of systemd-logind: %w", err)
	}
	return nil
}
