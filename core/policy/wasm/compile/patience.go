package compile

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// maxPatience is how many times the wall limit a child may have that hardly
// gets the processor.
const maxPatience = 10

// patience ends a child when its time is over. One that waits for the
// processor most of the time is given more: it has the lowest priority there
// is, and on a busy node an honest module would never be compiled.
type patience struct {
	process int
	wall    time.Duration
	// end ends the child.
	end func()

	mu     sync.Mutex
	timer  *time.Timer
	terms  int
	waited time.Duration
	done   bool
}

// begin begins the first term.
func (p *patience) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(p.wall, p.due)
}

// due is the end of a term.
func (p *patience) due() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return
	}
	waited := waitedForProcessor(p.process)
	starved := waited-p.waited >= p.wall/2
	p.waited = waited
	if p.terms++; !starved || p.terms >= maxPatience {
		p.end()
		return
	}
	p.timer.Reset(p.wall)
}

// over is called when the child has ended.
func (p *patience) over() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
	p.timer.Stop()
}

// waitedForProcessor is how long the threads of a process could have run and
// did not: the second figure of their schedstat, in nanoseconds.
func waitedForProcessor(process int) (waited time.Duration) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", process))
	if err != nil {
		return 0
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		var ran, delay int64
		if err == nil {
			_, err = fmt.Sscan(string(text), &ran, &delay)
		}
		if err == nil {
			waited += time.Duration(delay)
		}
	}
	return waited
}
