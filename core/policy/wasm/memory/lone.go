package memory

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// When a page of a file is first read, the kernel maps up to 15 of its neighbours,
// too, to save page faults. In a memory that is scanned, each page has its page
// fault only once, but each mapped page costs some 20 ns in every scan. The kernel
// does not map the neighbours if a userfaultfd watches for writes to protected
// pages. So we register one. As no page is ever protected, it reports nothing and
// is not read.
const (
	uffdAPI          = 0xc018aa3f // UFFDIO_API
	uffdRegister     = 0xc020aa00 // UFFDIO_REGISTER
	uffdVersion      = 0xaa
	uffdWriteProtect = 2
	uffdUserModeOnly = 1 // needs no privilege
)

// openWatch opens the userfaultfd. It returns -1 if that is not possible;
// neighbours are then mapped, too.
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

// lone asks the kernel to map the pages of memory one by one. It is only advice:
// kernels before 5.19 refuse it, and the error is ignored.
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
