package node

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/wardlet/wardlet/core/internal/cpu"
)

// slicesOf is a hierarchy whose cgroups are slices of systemd. systemd gets every limit, because it
// may set the limits of its units again at any time; what it has no property for is written to the
// kernel's files only.
type slicesOf struct {
	hierarchy
	units units
	v2    bool
}

// units are the units of systemd.
type units interface {
	// start starts a transient slice. A slice that is active already stays as it is.
	start(name string, properties []property) error
	// set changes properties of a slice until it is stopped.
	set(name string, properties []property) error
	// stop stops a slice with all units in it. A slice that does not exist is no error.
	stop(name string) error
}

// property is a property of a unit.
type property struct {
	Name  string
	Value dbus.Variant
}

func (s slicesOf) create(cgroup string) error {
	for _, dir := range levels("", cgroup) {
		err := s.units.start(path.Base(dir), []property{
			{"Description", dbus.MakeVariant("pods of Wardlet")},
			{"DefaultDependencies", dbus.MakeVariant(false)},
			{"CPUAccounting", dbus.MakeVariant(true)},
			{"MemoryAccounting", dbus.MakeVariant(true)},
			{"TasksAccounting", dbus.MakeVariant(true)},
			{"IOAccounting", dbus.MakeVariant(true)},
		})
		if err != nil {
			return fmt.Errorf("start the slice %s: %w", path.Base(dir), err)
		}
	}
	return s.hierarchy.create(cgroup) // in the hierarchies that systemd leaves alone
}

func (s slicesOf) limit(cgroup string, l limits) error {
	properties := []property{
		s.cpuShares(l.shares),
		{"CPUQuotaPerSecUSec", dbus.MakeVariant(quotaPerSecond(l.quota))},
		{"TasksMax", dbus.MakeVariant(orInfinity(l.pids))},
	}
	if s.v2 {
		properties = append(properties, property{"MemoryMax", dbus.MakeVariant(orInfinity(l.memory))})
	} else {
		properties = append(properties, property{"MemoryLimit", dbus.MakeVariant(orInfinity(l.memory))})
	}
	if err := s.set(cgroup, properties); err != nil {
		return err
	}
	return s.hierarchy.limit(cgroup, l)
}

func (s slicesOf) reserve(cgroup string, hard, soft int64) error {
	err := s.set(cgroup, []property{{"MemoryMin", dbus.MakeVariant(uint64(hard))}, {"MemoryLow", dbus.MakeVariant(uint64(soft))}})
	if err != nil {
		return err
	}
	return s.hierarchy.reserve(cgroup, hard, soft)
}

func (s slicesOf) setShares(cgroup string, shares int64) error {
	if err := s.set(cgroup, []property{s.cpuShares(shares)}); err != nil {
		return err
	}
	return s.hierarchy.setShares(cgroup, shares)
}

func (s slicesOf) set(cgroup string, properties []property) error {
	if err := s.units.set(path.Base(cgroup), properties); err != nil {
		return fmt.Errorf("set the limits of the slice %s: %w", path.Base(cgroup), err)
	}
	return nil
}

func (s slicesOf) stop(cgroup string) error {
	if err := s.units.stop(path.Base(cgroup)); err != nil {
		return fmt.Errorf("stop the slice %s: %w", path.Base(cgroup), err)
	}
	return nil
}

func (s slicesOf) cpuShares(shares int64) property {
	if s.v2 {
		return property{"CPUWeight", dbus.MakeVariant(uint64(cpu.Weight(shares)))}
	}
	return property{"CPUShares", dbus.MakeVariant(uint64(shares))}
}

// quotaPerSecond returns a quota of CPU time in µs a second. systemd counts in percent of a CPU, so it
// is rounded up to 10 ms.
func quotaPerSecond(quota int64) uint64 {
	const percent = 10_000
	if quota == 0 {
		return math.MaxUint64
	}
	perSecond := uint64(quota) * 1_000_000 / cpu.Period
	return (perSecond + percent - 1) / percent * percent
}

// orInfinity returns n, or what systemd calls infinity for 0.
func orInfinity(n int64) uint64 {
	if n == 0 {
		return math.MaxUint64
	}
	return uint64(n)
}

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
	return &systemdUnits{connect: func() (*dbus.Conn, error) { return systemBus(unitTimeout) }}
}

// systemBus connects to D-Bus. A D-Bus that takes connections and does not answer is an error after
// the limit.
func systemBus(limit time.Duration) (*dbus.Conn, error) {
	ctx, cancel := context.WithCancel(context.Background())
	slow := time.AfterFunc(limit, cancel) // not a deadline: the connection lives on with ctx
	conn, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if !slow.Stop() {
		err = fmt.Errorf("no answer within %s", limit)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	context.AfterFunc(conn.Context(), cancel)
	return conn, nil
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
