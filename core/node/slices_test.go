package node

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// fakeUnits imitates systemd: a slice has a directory in the hierarchies that systemd manages.
type fakeUnits struct {
	kernel *fakeKernel
	// at is the directory below /sys/fs/cgroup of the hierarchy that systemd manages.
	at string
	// properties are the last values, by slice and property.
	properties map[string]map[string]any
	// fail is the error of every call, and failSet that of set.
	fail, failSet error
}

func (u *fakeUnits) dir(name string) string {
	cgroup := ""
	for i, r := range name {
		if r == '-' {
			cgroup = filepath.Join(cgroup, name[:i]+".slice")
		}
	}
	return filepath.Join(u.kernel.root, "sys/fs/cgroup", u.at, cgroup, name)
}

func (u *fakeUnits) start(name string, properties []property) error {
	if u.fail != nil || u.properties[name] != nil {
		return u.fail
	}
	u.properties[name] = map[string]any{}
	if err := u.set(name, properties); err != nil || exists(u.dir(name)) {
		return err
	}
	if u.at == "" {
		for _, controller := range []string{"cpu", "memory", "pids"} {
			if err := u.kernel.write(filepath.Join(filepath.Dir(u.dir(name)), "cgroup.subtree_control"), "+"+controller); err != nil {
				return err
			}
		}
	}
	return u.kernel.mkdir(u.dir(name))
}

func (u *fakeUnits) set(name string, properties []property) error {
	if err := errors.Join(u.fail, u.failSet); err != nil {
		return err
	}
	for _, p := range properties {
		u.properties[name][p.Name] = p.Value.Value()
	}
	return nil
}

func (u *fakeUnits) stop(name string) error {
	if u.fail != nil {
		return u.fail
	}
	delete(u.properties, name)
	return u.kernel.rmdir(u.dir(name))
}

func newSliced(t *testing.T, mountinfo string) (*Cgroups, *fakeKernel, *fakeUnits) {
	t.Helper()
	k, fs := newFake(t, mountinfo)
	u := &fakeUnits{kernel: k, properties: map[string]map[string]any{}}
	if mountinfo == mountinfoV1 {
		u.at = "systemd"
	}
	c, err := newCgroups(DriverSystemd, "/wardlet", Bounds{MilliCPU: 1500, Memory: 1 << 30, PodPIDs: 50}, fs, u)
	check(t, err)
	return c, k, u
}

func TestSlices_ofPods(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mountinfo, pod string
		files          map[string]string
		properties     map[string]map[string]any
	}{
		"v2": {
			mountinfoV2, "wardlet.slice/wardlet-podg_1.slice",
			map[string]string{
				"wardlet.slice/memory.max": "1073741824", "wardlet.slice/wardlet-podg_1.slice/memory.max": "67108864",
				"wardlet.slice/wardlet-podg_1.slice/cpu.max": "50000 100000", "wardlet.slice/wardlet-podg_1.slice/pids.max": "50",
				"wardlet.slice/wardlet-burstable.slice/wardlet-burstable-podb.slice/cpu.weight": "10", "wardlet.slice/wardlet-besteffort.slice/cpu.weight": "1",
			},
			map[string]map[string]any{
				"wardlet.slice":                {"CPUWeight": uint64(59), "MemoryMax": uint64(1 << 30), "TasksMax": uint64(math.MaxUint64), "CPUQuotaPerSecUSec": uint64(math.MaxUint64)},
				"wardlet-podg_1.slice":         {"CPUWeight": uint64(20), "MemoryMax": uint64(64 << 20), "TasksMax": uint64(50), "CPUQuotaPerSecUSec": uint64(500_000)},
				"wardlet-burstable-podb.slice": {"CPUWeight": uint64(10), "MemoryMax": uint64(math.MaxUint64)},
				"wardlet-burstable.slice":      {"CPUWeight": uint64(10)},
			},
		},
		"v1": {
			mountinfoV1, "memory/wardlet.slice/wardlet-podg_1.slice",
			map[string]string{
				"memory/wardlet.slice/wardlet-podg_1.slice/memory.limit_in_bytes": "67108864",
				"cpu,cpuacct/wardlet.slice/wardlet-burstable.slice/cpu.shares":    "256",
			},
			map[string]map[string]any{
				"wardlet-podg_1.slice":    {"CPUShares": uint64(512), "MemoryLimit": uint64(64 << 20)},
				"wardlet-burstable.slice": {"CPUShares": uint64(256)},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, k, u := newSliced(t, tt.mountinfo)
			for range 2 {
				if got := ensure(t, c, "g-1", guaranteed); got != "wardlet-podg_1.slice" {
					t.Errorf("parent %s", got)
				}
				if got := ensure(t, c, "b", burstable); got != "wardlet-burstable-podb.slice" {
					t.Errorf("parent %s", got)
				}
				ensure(t, c, "e", bestEffort)
			}
			k.wantFiles(t, tt.files)
			for slice, want := range tt.properties {
				for name, value := range want {
					if got := u.properties[slice][name]; got != value {
						t.Errorf("%s of %s is %v, want %v", name, slice, got, value)
					}
				}
			}
			pods, err := c.Pods()
			check(t, err)
			if diff := cmp.Diff([]types.UID{"b", "e", "g-1"}, pods); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
			if c.V2() != (tt.mountinfo == mountinfoV2) {
				t.Errorf("v2: %v", c.V2())
			}
			for _, uid := range pods {
				check(t, c.Remove(t.Context(), uid))
			}
			if pods, err := c.Pods(); err != nil || len(pods) > 0 || k.has(tt.pod) {
				t.Errorf("after all pods have ended: %v, error %v", pods, err)
			}
			left := slices.Collect(func(yield func(string) bool) {
				for name := range u.properties {
					if strings.Contains(name, "-pod") && !yield(name) {
						return
					}
				}
			})
			if len(left) > 0 {
				t.Errorf("slices are left: %v", left)
			}
		})
	}
}

func TestSlices_faultsNameTheSlice(t *testing.T) {
	t.Parallel()
	c, _, u := newSliced(t, mountinfoV2)
	u.fail = fmt.Errorf("no reply: %w", dbus.ErrClosed)
	_, err := c.Ensure(newPod("a", burstable))
	wantError(t, err, "start the slice wardlet.slice: no reply")
	u.fail = nil
	ensure(t, c, "a", burstable)
	u.fail = dbus.ErrClosed
	wantError(t, c.Remove(t.Context(), "a"), "stop the slice wardlet-burstable-poda.slice")
	u.fail = nil
	check(t, c.Remove(t.Context(), "a"))
}

// TestSlices_removedWhileSystemdIsAway: the slice of a pod is removed, and systemd refuses limits for a
// while. Refresh tries again until it has set them. Meanwhile another pod ends as usual.
func TestSlices_removedWhileSystemdIsAway(t *testing.T) {
	t.Parallel()
	c, k, u := newSliced(t, mountinfoV2)
	ensure(t, c, "a", burstable)
	ensure(t, c, "b", burstable)
	const name = "wardlet-burstable-poda.slice"
	check(t, os.RemoveAll(u.dir(name)))
	delete(u.properties, name)
	var all []types.UID
	for _, away := range []*error{&u.fail, &u.fail, &u.failSet, &u.failSet} {
		*away = dbus.ErrClosed
		recreated, err := c.Refresh()
		wantError(t, err, "cgroup of pod a: ")
		all = append(all, recreated...)
		if u.fail != nil && len(all) > 0 {
			t.Errorf("created again while systemd is away: %v", all)
		}
		u.fail = nil
	}
	if len(all) != 1 {
		t.Errorf("created again: %v, want one message", all)
	}
	check(t, c.Remove(t.Context(), "b"))
	u.failSet = nil
	for range 2 {
		_, err := c.Refresh()
		check(t, err)
	}
	if got := u.properties[name]["CPUWeight"]; got != uint64(10) || !k.has("wardlet.slice/wardlet-burstable.slice/"+name) {
		t.Errorf("the weight is %v", got)
	}
}

func TestSlices_refuseOtherUIDs(t *testing.T) {
	t.Parallel()
	c, _, _ := newSliced(t, mountinfoV2)
	for _, uid := range []types.UID{"a_b", "a b", "\u00e4", "a@b"} {
		_, err := c.Ensure(newPod(uid, burstable))
		wantError(t, err, "change metadata.uid")
	}
}

func TestNaming_uidIsTheInverseOfPod(t *testing.T) {
	t.Parallel()
	for _, driver := range []Driver{DriverCgroupfs, DriverSystemd} {
		for _, root := range []string{"/wardlet", "/a/b-c"} {
			n := naming{driver, root}
			for _, class := range classes {
				cgroup := n.pod(class, "1-2.x")
				uid, ok := n.uid(class, path.Base(cgroup))
				if !ok || uid != "1-2.x" || path.Dir(cgroup) != n.class(class) {
					t.Errorf("%s is in %s, and of pod %q (%v)", cgroup, n.class(class), uid, ok)
				}
				for _, other := range []string{"burstable", path.Base(n.class(class)), "pod", "x"} {
					if uid, ok := n.uid(class, other); ok {
						t.Errorf("%s is of pod %q", other, uid)
					}
				}
			}
		}
	}
}

func TestQuotaPerSecond(t *testing.T) {
	t.Parallel()
	for quota, want := range map[int64]uint64{0: math.MaxUint64, 1000: 10_000, 50_000: 500_000, 150_001: 1_510_000} {
		if got := quotaPerSecond(quota); got != want {
			t.Errorf("%d µs of a period are %d µs a second, want %d", quota, got, want)
		}
	}
}

func TestSystemBus_thatDoesNotAnswer(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "bus")
	bus, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+socket)
	conn, err := systemBus(50 * time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "no answer within 50ms") {
		t.Errorf("connection %v, error %v", conn, err)
	}
}
