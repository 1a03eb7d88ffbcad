package compile

import (
	"strings"
	"testing"
	"time"
)

func TestABombHurtsOnlyItsChild(t *testing.T) {
	for name, test := range map[string]struct {
		module []byte
		limits Limits
		reason Reason
		text   string
	}{
		"processor time":        {bomb(1000, 800), Limits{CPU: time.Second}, CPU, "s of processor time to compile"},
		"memory":                {bomb(1000, 400), Limits{Memory: 100 << 20}, Memory, "it takes more than 104857600 bytes of memory to compile: "},
		"code":                  {bomb(100, 400), Limits{Code: 100 << 10}, Memory, "its compiled code has more than 102400 bytes"},
		"loading":               {broad(64 << 10), Limits{LoadCPU: 1}, CPU, "of processor time to load its compiled code, at most 1ns are allowed"},
		"memory to load":        {broad(64 << 10), Limits{LoadMemory: 1 << 10}, Memory, "bytes to load its compiled code, at most 1024 are allowed"},
		"no module":             {[]byte("\x00asm\x02\x00\x00\x00"), Limits{}, Invalid, "invalid version header"},
		"nothing":               {nil, Limits{}, Invalid, "invalid magic number"},
		"a function too little": {small(1)[:20], Limits{}, Invalid, "get size of section export: EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			limits := test.limits
			if limits.Wall == 0 {
				limits.Wall = 5 * time.Minute
			}
			if limits.CPU == 0 {
				limits.CPU = 5 * time.Minute
			}
			f := library(t, t.TempDir()+"/cache", limited(limits))
			isRefused(t, f, test.module, test.reason, test.text)
		})
	}
}

// TestWall_endsTheTryWithoutAVerdict checks that only processor time decides whether a module
// is refused: on a busy node the wall limit stops the attempt without a refusal.
func TestWall_endsTheTryWithoutAVerdict(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache", limited(Limits{Wall: time.Second, CPU: 5 * time.Minute, Memory: 8 << 30}))
	module := bomb(2000, 1500)
	_, err := f.Acquire(t.Context(), "", Whole(module))
	if err == nil || !strings.Contains(err.Error(), "the node is busy, try again") {
		t.Errorf("error %v", err)
	}
	if refused := f.cache.Refused(digestOf(module)); refused != nil {
		t.Errorf("the module is refused: %v", refused)
	}
}

// TestBombsAreBombs checks that without limits the bombs of other tests exceed the limits of
// those tests.
func TestBombsAreBombs(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache", limited(Limits{Wall: 10 * time.Minute, CPU: 10 * time.Minute, Memory: 4 << 30}))
	module := bomb(1000, 400)
	code := acquire(t, f, module)
	defer code.Release()
	c := code.Cost()
	t.Logf("%d bytes: %+v", len(module), c)
	if len(module) > 20<<10 || c.CPU < time.Second || c.Peak < 300<<20 {
		t.Errorf("%d bytes cost %+v", len(module), c)
	}
}

func TestHonestModulesPass(t *testing.T) {
	t.Parallel()
	f := library(t, t.TempDir()+"/cache", limited(Limits{Wall: 5 * time.Minute, CPU: 5 * time.Minute}))
	size := 4 << 20
	if slow {
		size = 1 << 20
	}
	module := broad(size)
	code := acquire(t, f, module)
	defer code.Release()
	c := code.Cost()
	t.Logf("%d bytes: %+v", len(module), c)
	// The limits leave room for honest modules: they are meant for attackers.
	if l := (Limits{}).withDefaults(); c.Mapped > l.Memory/2 || c.LoadMemory > l.LoadMemory/2 || c.LoadCPU > l.LoadCPU {
		t.Errorf("an honest module of %d bytes costs %+v", len(module), c)
	}
}
