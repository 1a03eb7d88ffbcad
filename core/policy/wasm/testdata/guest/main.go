//go:build wasip1

// The guest of the tests: a plugin of the real Go runtime that does, by its
// setting "mode", what plugins do and what they should not.
package main

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"time"
	"unsafe"
)

//go:wasmimport wardlet1 path
//go:noescape
func hostPath(text unsafe.Pointer, length uint32) int32

//go:wasmimport wardlet1 setting
//go:noescape
func hostSetting(path unsafe.Pointer, length uint32, buffer unsafe.Pointer, capacity uint32) int32

//go:wasmimport wardlet1 reason
//go:noescape
func hostReason(code unsafe.Pointer, codeLength uint32, message unsafe.Pointer, messageLength uint32)

var input struct {
	capacity, length uint32
	record           [64 << 10]byte
}

var (
	mode    string
	counter int
	keep    [][]byte
)

func pointer(s string) unsafe.Pointer { return unsafe.Pointer(unsafe.StringData(s)) }

func reason(code, message string) {
	hostReason(pointer(code), uint32(len(code)), pointer(message), uint32(len(message)))
}

//go:wasmexport wardlet_abi_1_0
func marker() {}

//go:wasmexport wardlet_init
func initialise() int32 {
	var value [64]byte
	const name, images = "mode", "object.spec.@containers[*].image"
	if n := hostSetting(pointer(name), uint32(len(name)), unsafe.Pointer(&value), uint32(len(value))); n > 5 {
		mode = string(value[5:n])
	}
	if mode == "exit at init" {
		os.Exit(7)
	}
	return hostPath(pointer(images), uint32(len(images)))
}

//go:wasmexport wardlet_input
func inputArea() int32 {
	input.capacity = uint32(len(input.record))
	return int32(uintptr(unsafe.Pointer(&input)))
}

//go:wasmexport wardlet_admit
func admit() int32 {
	switch mode {
	case "panic":
		panic("no opinion")
	case "exit":
		os.Exit(3)
	case "memory":
		for {
			keep = append(keep, make([]byte, 100<<10))
		}
	case "recursion":
		return recurse(1)
	case "sleep":
		begin := time.Now()
		time.Sleep(time.Hour)
		reason("", time.Since(begin).String())
	case "time":
		reason("", time.Now().UTC().Format(time.RFC3339Nano))
	case "random":
		reason("", strconv.FormatUint(rand.Uint64(), 10)+" "+order())
	case "print":
		println("to standard error")
		os.Stdout.WriteString("to standard output\nwithout an end")
	case "goroutines":
		sum := make(chan int)
		for i := range 10 {
			go func() { sum <- i }()
		}
		total := 0
		for range 10 {
			total += <-sum
		}
		reason("", strconv.Itoa(total))
	case "counter":
		counter++
		reason("", strconv.Itoa(counter))
	case "garbage":
		total := 0
		for i := range 200 {
			total += len(make([]byte, 1<<10+i))
		}
		runtime.GC()
		reason("", strconv.Itoa(total))
	case "grow":
		keep = append(keep, make([]byte, 4<<20))
		counter++
		reason("", strconv.Itoa(counter))
	default:
		return images()
	}
	return 0
}

func recurse(n int32) int32 {
	var frame [64]int32
	frame[n%64] = n
	return recurse(n+1) + frame[(n+1)%64]
}

// order is that of a map with ten keys.
func order() (keys string) {
	m := map[int]bool{}
	for i := range 10 {
		m[i] = true
	}
	for i := range m {
		keys += strconv.Itoa(i)
	}
	return keys
}

// images denies a pod that has the image "evil".
func images() int32 {
	list := input.record[9:input.length] // after u16 count, u16 handle, u8 type, u32 length
	count := u32(list)
	list = list[4:]
	for range count {
		length := u32(list[1:])
		if image := string(list[5 : 5+length]); image == "evil" {
			reason("ImageNotAllowed", "image "+image+" is not allowed")
			return 1
		}
		list = list[5+length:]
	}
	return 0
}

func u32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func main() {}
