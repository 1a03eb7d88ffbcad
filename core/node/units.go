package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

// unitTimeout limits each call to systemd.
const unitTimeout = 30 * time.Second

// systemdUnits are the units of the system's systemd, through D-Bus. It connects with the first call,
// and again after the connection was lost.
type systemdUnits struct {
	connect func() (*dbus.Conn, error)

	mu   sync.Mutex
	conn *dbus.Conn
}

func newSystemdUnits() *systemdUnits {
	return &systemdUnits{connect: func() (*dbus.Conn, error) { return dbus.ConnectSystemBus() }}
}

func (u *systemdUnits) start(name string, properties []property) error {
	type auxiliary struct {
		Name       string
		Properties []property
	}
	return u.call("UnitExists", "StartTransientUnit", name, "replace", properties, []auxiliary{})
}

func (u *systemdUnits) set(name string, properties []property) error {
	const untilStopped = true
	return u.call("", "SetUnitProperties", name, untilStopped, properties)
}

func (u *systemdUnits) stop(name string) error {
	return u.call("NoSuchUnit", "StopUnit", name, "replace")
}

// call calls a method of systemd's manager. The error with the name harmless is no error.
func (u *systemdUnits) call(harmless, method string, args ...any) error {
	conn, err := u.connection()
	if err != nil {
		return err
	}
	const manager = "org.freedesktop.systemd1"
	ctx, cancel := context.WithTimeout(context.Background(), unitTimeout)
	defer cancel()
	err = conn.Object(manager, "/org/freedesktop/systemd1").CallWithContext(ctx, manager+".Manager."+method, 0, args...).Err
	if failure, ok := errors.AsType[dbus.Error](err); ok && failure.Name == manager+"."+harmless {
		return nil
	}
	return err
}

// connection returns the connection to D-Bus, a new one if the last was lost.
func (u *systemdUnits) connection() (*dbus.Conn, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.conn != nil && u.conn.Connected() {
		return u.conn, nil
	}
	conn, err := u.connect()
	if err != nil {
		return nil, fmt.Errorf(`connect to systemd through D-Bus: %w; is dbus running? or use cgroup_driver = "cgroupfs" with SystemdCgroup = false in the runtime's configuration`, err)
	}
	u.conn = conn
	return conn, nil
}
