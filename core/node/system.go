package node

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
)

// System returns the information of the machine and its operating system. Unknown fields are empty.
func System() v1.NodeSystemInfo {
	info := v1.NodeSystemInfo{
		MachineID:       firstLine("/etc/machine-id", "/var/lib/dbus/machine-id"),
		SystemUUID:      strings.ToLower(firstLine("/sys/class/dmi/id/product_uuid", "/proc/device-tree/vm,uuid")),
		BootID:          firstLine("/proc/sys/kernel/random/boot_id"),
		OSImage:         osImage("/etc/os-release", "/usr/lib/os-release"),
		OperatingSystem: runtime.GOOS,
		Architecture:    runtime.GOARCH,
	}
	if info.SystemUUID == "" {
		info.SystemUUID = info.MachineID
	}
	var uts unix.Utsname
	if unix.Uname(&uts) == nil {
		info.KernelVersion = unix.ByteSliceToString(uts.Release[:])
	}
	return info
}

// firstLine returns the first line of the first readable file.
func firstLine(files ...string) string {
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			line, _, _ := strings.Cut(string(text), "\n")
			return strings.Trim(strings.TrimSpace(line), "\x00")
		}
	}
	return ""
}

// osImage returns PRETTY_NAME of os-release(5).
func osImage(files ...string) string {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			if value, ok := strings.CutPrefix(lines.Text(), "PRETTY_NAME="); ok {
				if unquoted, err := strconv.Unquote(value); err == nil {
					value = unquoted
				}
				return strings.Trim(value, "'")
			}
		}
	}
	return "Linux"
}

// DefaultIP returns the address of the interface that has the default route, IPv4 before IPv6.
func DefaultIP() (net.IP, error) { return defaultIP("/proc/net", addressesOf) }

func defaultIP(proc string, addresses func(name string) ([]net.IP, error)) (net.IP, error) {
	for _, family := range []struct {
		file string
		name func(fields []string) string
		fits func(net.IP) bool
	}{
		{"route", func(f []string) string {
			if len(f) > 7 && f[1] == "00000000" && f[7] == "00000000" {
				return f[0]
			}
			return ""
		}, func(ip net.IP) bool { return ip.To4() != nil }},
		{"ipv6_route", func(f []string) string {
			if len(f) > 9 && f[0] == strings.Repeat("0", 32) && f[1] == "00" && f[9] != "lo" {
				return f[9]
			}
			return ""
		}, func(ip net.IP) bool { return ip.To4() == nil }},
	} {
		text, err := os.ReadFile(filepath.Join(proc, family.file))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			name := family.name(strings.Fields(line))
			if name == "" {
				continue
			}
			ips, err := addresses(name)
			if err != nil {
				return nil, fmt.Errorf("addresses of %s: %w", name, err)
			}
			for _, ip := range ips {
				if family.fits(ip) && ip.IsGlobalUnicast() {
					return ip, nil
				}
			}
		}
	}
	return nil, errors.New("no interface with a default route has an address; name one in cluster.node_ip")
}

// NamedIP returns the address of this machine that a node's name stands for, as a kubelet finds it: the
// name is the address, or it resolves to it, IPv4 before IPv6. It is nil if there is none that a cluster
// could reach. It returns an error if the name could not be resolved, which may change.
func NamedIP(ctx context.Context, name string) (net.IP, error) {
	return namedIP(ctx, name, net.DefaultResolver.LookupIPAddr, net.InterfaceAddrs)
}

func namedIP(ctx context.Context, name string, resolve func(ctx context.Context, name string) ([]net.IPAddr, error), addresses func() ([]net.Addr, error)) (net.IP, error) {
	all := []net.IPAddr{{IP: net.ParseIP(name)}}
	if all[0].IP == nil {
		var err error
		all, err = resolve(ctx, name)
		if unknown, ok := errors.AsType[*net.DNSError](err); ok && unknown.IsNotFound {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	var second net.IP
	for _, a := range all {
		switch ip := a.IP; {
		case !ip.IsGlobalUnicast() || heldIP(ip, addresses) != nil:
		case ip.To4() != nil:
			return ip, nil
		case second == nil:
			second = ip
		}
	}
	return second, nil
}

// HeldIP returns an error that names the machine's addresses if no interface has ip.
func HeldIP(ip net.IP) error { return heldIP(ip, net.InterfaceAddrs) }

func heldIP(ip net.IP, addresses func() ([]net.Addr, error)) error {
	all, err := addresses()
	if err != nil {
		return fmt.Errorf("the addresses of this machine cannot be read: %w", err)
	}
	var others []string
	for _, a := range all {
		switch n, ok := a.(*net.IPNet); {
		case !ok:
		case n.IP.Equal(ip):
			return nil
		case n.IP.IsGlobalUnicast():
			others = append(others, n.IP.String())
		}
	}
	if len(others) == 0 {
		return fmt.Errorf("no interface of this machine has %s; they have none that a cluster could reach", ip)
	}
	return fmt.Errorf("no interface of this machine has %s; those that they have are %s", ip, strings.Join(others, ", "))
}

func addressesOf(name string) ([]net.IP, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	addrs, err := i.Addrs()
	if err != nil {
		return nil, err
	}
	var ips []net.IP
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok {
			ips = append(ips, n.IP)
		}
	}
	return ips, nil
}
