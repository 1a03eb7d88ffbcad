package compile

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestWhoIsToBlameForTheEndOfAChild(t *testing.T) {
	t.Parallel()
	const module, machine = true, false
	exit := func(status int) syscall.WaitStatus { return syscall.WaitStatus(status << 8) }
	by := func(signal syscall.Signal) syscall.WaitStatus { return syscall.WaitStatus(signal) }
	limits := Limits{CPU: 10 * time.Second, Wall: 20 * time.Second}.withDefaults()
	for name, test := range map[string]struct {
		ended
		blame bool
		want  string
	}{
		"killed by the kernel at the limit":   {ended{status: by(syscall.SIGKILL), cpu: 10 * time.Second}, module, "(cpu, "},
		"SIGXCPU":                             {ended{status: by(syscall.SIGXCPU)}, module, "(cpu, "},
		"killed by us when the time was over": {ended{status: by(syscall.SIGKILL), cpu: 5 * time.Second, stopped: errWall}, machine, "not compiled within 20s, in which the child got the processor for 5s of at most 10s"},
		"killed by us to make room":           {ended{status: by(syscall.SIGKILL), cpu: 5 * time.Second, stopped: errDisplaced}, machine, "other plugins wait"},
		"Go got no thread, as there are many": {ended{status: exit(2), stderr: []byte("runtime: failed to create new OS thread (have 5 already; errno=11)\nruntime: may need to increase max user processes (ulimit -u)")}, machine, "too many on the node"},
		"Go got no memory for a thread":       {ended{status: exit(2), stderr: []byte("runtime: failed to create new OS thread (have 5 already; errno=12)")}, module, "(memory, "},
		"killed by us because the agent ends": {ended{status: by(syscall.SIGKILL), cpu: 5 * time.Second, stopped: context.Canceled}, machine, "context canceled"},
		"killed by somebody":                  {ended{status: by(syscall.SIGKILL), cpu: 5 * time.Second}, machine, "killed from outside"},
		"killed before it could run":          {ended{status: by(syscall.SIGKILL)}, machine, "killed from outside"},
		"killed at its limit of memory":       {ended{status: by(syscall.SIGKILL), stderr: []byte("fatal error: runtime: out of memory")}, module, "(memory, "},
		"it died as the agent ended":          {ended{status: by(syscall.SIGSEGV), stopped: context.Canceled}, module, "(crash, "},
		"SIGBUS":                              {ended{status: by(syscall.SIGBUS)}, module, "died of signal 7"},
		"SIGTERM":                             {ended{status: by(syscall.SIGTERM)}, machine, "ended from outside (terminated)"},
		"SIGINT":                              {ended{status: by(syscall.SIGINT)}, machine, "ended from outside (interrupt)"},
		"SIGHUP":                              {ended{status: by(syscall.SIGHUP)}, machine, "ended from outside (hangup)"},
		"the race detector has no memory":     {ended{status: exit(66), stderr: []byte("==1==ERROR: ThreadSanitizer failed to allocate 0x8 bytes (errno: 12)")}, module, "(memory, "},
		"cgo has no memory":                   {ended{status: by(syscall.SIGABRT), stderr: []byte("runtime/cgo: pthread_create failed: Resource temporarily unavailable")}, module, "(memory, "},
		"memory, only in a later line":        {ended{status: exit(2), stderr: []byte("panic: x\nout of memory")}, module, "(crash, "},
		"another status":                      {ended{status: exit(1)}, module, "ended with status 1"},
		"a disk fault":                        {ended{status: exit(statusNot), stdout: []byte(`{"failed":true,"disk":true,"text":"no space left"}` + "\n")}, machine, "the directory of compiled code: no space left"},
	} {
		r, err := test.judge(limits)
		if r != nil || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %v\nwant %s", name, r, err, test.want)
		}
		if _, ok := errors.AsType[*Refused](err); ok != test.blame {
			t.Errorf("%s: blames the module: %v, want %v", name, ok, test.blame)
		}
		if _, ok := errors.AsType[*diskFault](err); ok != (name == "a disk fault") {
			t.Errorf("%s: blames the disk: %v", name, ok)
		}
	}
	done := ended{status: exit(statusCompiled), stdout: []byte(`{"cost":{"cpu":5}}` + "\n"), stopped: context.Canceled}
	if r, err := done.judge(limits); err != nil || r.Cost.CPU != 5 {
		t.Errorf("done as the agent ends: %v, %v", r, err)
	}
}
