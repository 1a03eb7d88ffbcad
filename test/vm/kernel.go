//go:build vm

package vm

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// kernel is a key of kernels.
var kernel = flag.String("kernel", "uml", `"uml" for User Mode Linux, "cloud" for Debian's kernel for clouds in QEMU`)

// kernels are the ways to run a machine, by the value of the flag -kernel. Each returns the command
// that is the machine's power: the machine is off when it has ended.
var kernels = map[string]func(t *testing.T, m *machine) *exec.Cmd{"uml": userModeLinux, "cloud": emulated}

// base returns the absolute path of the disk that all machines start with. Nothing writes to it.
func base(t *testing.T) string {
	t.Helper()
	disk, err := filepath.Abs(filepath.Join(build, "vm", "disk"))
	if err != nil {
		t.Fatal(err)
	}
	return disk
}

// parameters are the parameters of both kernels.
var parameters = []string{"rw", "apparmor=1", "security=apparmor", "systemd.unified_cgroup_hierarchy=1", "quiet", "systemd.show_status=0"}

// userModeLinux returns a kernel that is a process. It has one processor, and no NAT. Only it can have
// a network and a second disk.
func userModeLinux(t *testing.T, m *machine) *exec.Cmd {
	t.Helper()
	args := append([]string{
		"seccomp=on", "ubd0=" + filepath.Join(m.dir, "changes") + "," + base(t), "root=/dev/ubda", "init=/lib/systemd/systemd",
		"umid=vm", "uml_dir=" + m.dir + "/", "con=null", "con0=null,fd:1", "ssl=null", "vm.share=" + m.host(""),
	}, parameters...)
	memory := "mem=1G"
	if m.tap != "" {
		memory = "mem=4G" // for the pods of many tests
		args = append(args, "vec0:transport=tap,depth=128,ifname="+m.tap)
	}
	if m.data != "" {
		args = append(args, "ubd1="+m.data)
	}
	args = append(args, memory)
	return exec.CommandContext(context.Background(), filepath.Join(build, "vm", "uml", "usr", "bin", "linux.uml"), args...)
}

// emulated returns QEMU with the kernel that Debian has for clouds. It has two processors and all
// controllers of cgroup v2, and is slow: no hardware helps it.
func emulated(t *testing.T, m *machine) *exec.Cmd {
	t.Helper()
	changes, socket := filepath.Join(m.dir, "changes"), filepath.Join(m.dir, "share")
	if _, err := os.Stat(changes); err != nil {
		if output, err := exec.CommandContext(t.Context(), "qemu-img", "create", "-q", "-f", "qcow2", "-b", base(t), "-F", "raw", changes).CombinedOutput(); err != nil {
			t.Fatalf("qemu-img: %v; tools/setup.sh qemu installs it\n%s", err, output)
		}
	}
	_ = os.Remove(socket)
	// It ends when the emulator closes its connection.
	share := exec.CommandContext(context.Background(), "/usr/lib/qemu/virtiofsd", "--socket-path="+socket, "-o", "source="+m.host(""), "-o", "sandbox=chroot", "-o", "cache=none")
	log, err := os.Create(filepath.Join(m.dir, "share.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	share.Stderr = log
	if err := share.Start(); err != nil {
		t.Fatalf("share a directory with the machine: %v; tools/setup.sh qemu installs what does so", err)
	}
	t.Cleanup(func() {
		_ = share.Process.Kill() // it has ended if the emulator has
		_ = share.Wait()
	})
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			break
		}
	}
	line := "console=ttyS0 panic=-1 mitigations=off net.ifnames=0 " + strings.Join(parameters, " ")
	return exec.CommandContext(context.Background(), "qemu-system-x86_64", "-M", "q35,memory-backend=memory", "-accel", "tcg,thread=multi,tb-size=512",
		"-object", "memory-backend-memfd,id=memory,size=2G,share=on", "-cpu", "max", "-smp", "2", "-m", "2G", "-nodefaults", "-no-user-config",
		"-display", "none", "-no-reboot", "-serial", "stdio", "-rtc", "base=utc,clock=host",
		"-kernel", filepath.Join(build, "vm", "cloud", "vmlinuz"), "-initrd", filepath.Join(build, "vm", "cloud", "initrd"), "-append", line,
		"-drive", "file="+changes+",format=qcow2,if=none,id=disk,cache=writeback", "-device", "virtio-blk-pci,drive=disk",
		"-chardev", "socket,id=share,path="+socket, "-device", "vhost-user-fs-pci,chardev=share,tag=host")
}
