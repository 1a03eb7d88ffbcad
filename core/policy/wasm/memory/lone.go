package memory

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// When a page of a file is read first, the kernel maps up to 15 of its
// neighbours with it, to save page faults. A memory that is scanned has its page
// faults once, but pays for each mapped page in each scan, some 20 ns. The
// kernel leaves the neighbours out where a userfaultfd watches for writes to
// protected pages. So ours watches, but no page is ever protected: it has
// nothing to report, and is not read.
const (
	uffdAPI          = 0xc018aa3f // UFFDIO_API
	uffdRegister     = 0xc020aa00 // UFFDIO_REGISTER
	uffdVersion      = 0xaa
	uffdWriteProtect = 2
	uffdUserModeOnly = 1 // needs no privilege
)

// openWatch opens the userfaultfd, -1 if it cannot be had: then neighbours are
// mapped too.
func openWatch() int {
	file, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|unix.O_NONBLOCK|uffdUserModeOnly, 0, 0)
	if errno != 0 {
		return -1
	}
	hello := struct{ version, features, ioctls uint64 }{version: uffdVersion}
	_, _, errno = unix.Syscall(unix.SYS_IOCTL, file, uffdAPI, uintptr(unsafe.Pointer(&hello)))
	if errno != 0 {
		_ = unix.Close(int(file)) // nothing was written to it
		return -1
	}
	return int(file)
}

// lone asks that pages of memory are mapped one by one. It is advice only:
// kernels before 5.19 refuse it.
func (k *kernel) lone(memory []byte) {
	if k.watch < 0 {
		return
	}
	request := struct{ start, length, mode, ioctls uint64 }{
		start:  uint64(uintptr(unsafe.Pointer(&memory[0]))),
		length: uint64(len(memory)),
		mode:   uffdWriteProtect,
	}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(k.watch), uffdRegister, uintptr(unsafe.Pointer(&request)))
}
