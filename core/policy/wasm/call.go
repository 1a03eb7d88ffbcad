package wasm

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"math/rand/v2"
	"time"
)

// maxKept is how much room of one call is kept for the next, in bytes for each
// buffer.
const maxKept = 256 << 10

// call is what the host functions work on while the guest runs. A hook's call
// is used again for the next one: renew empties it, and its buffers stay.
type call struct {
	ctx context.Context // of the one call under way, for its log lines
	// declared is what the guest declares, nil where it may not.
	declared *projection
	// refused is why the last path was not taken.
	refused error
	// wants are the fields that a hook may get; nil outside of hooks.
	wants     *projection
	query     query
	documents documents
	record    record
	// steps are those of a setting's path.
	steps  steps
	output output
	// now is the frozen wall clock, elapsed what the guest waited since.
	now     time.Time
	elapsed time.Duration
	// random is where random numbers come from, once it is seeded.
	random rand.ChaCha8
	seeded bool
	// written holds what is not a whole line yet, of standard output and of
	// standard error; complaint is the first line of the latter.
	written   [2]lines
	complaint string
	// fetched is what a hook has got beyond its record.
	fetched fetched
	// paths is what reads gave for the fetches in pathsOf: mostly they are the same
	// in the next call.
	paths   []string
	pathsOf fetched
}

// startTime is what the clock shows while a plugin initialises itself: some
// instant that is the same everywhere.
var startTime = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// renew makes the call one of a hook, of a guest that declared wants.
func (c *call) renew(wants *projection, now time.Time) {
	c.wants, c.now = wants, now
	c.elapsed, c.seeded, c.complaint, c.fetched = 0, false, "", fetched{}
	c.output = output{}
}

// forget lets go of what the call was about.
func (c *call) forget() {
	c.ctx, c.wants = nil, nil
	c.query.forget()
	c.documents.forget(maxKept)
	c.record.forget(maxKept)
	c.output = output{}
}

// read fills in random numbers. In a hook they come from own, the plugin's
// seed, and from all that the plugin is asked; before, from own alone. charge is
// called for each document that was made JSON for them, as documents.seed says.
func (c *call) read(own [sha256.Size]byte, random []byte, charge func(encoded int, extra int64)) {
	if !c.seeded {
		seed := own
		if c.wants != nil {
			seed = c.documents.seed(own, &c.query, charge)
		}
		c.random.Seed(seed)
		c.seeded = true
	}
	_, _ = c.random.Read(random) // never fails
}

// write takes what the guest wrote to its standard output (0) or error (1), asked
// about a pod of a tenant.
func (c *call) write(log *pluginLog, tenant string, stream int, data []byte) {
	c.written[stream].write(data, func(line []byte) { c.line(log, tenant, stream, line) })
}

func (c *call) line(log *pluginLog, tenant string, stream int, line []byte) {
	level := slog.LevelInfo
	if stream == 1 {
		level = slog.LevelWarn
		if c.complaint == "" {
			c.complaint = string(line)
		}
	}
	log.line(c.ctx, tenant, level, line)
}

// flush logs what was not ended by a newline.
func (c *call) flush(log *pluginLog, tenant string) {
	for stream := range c.written {
		c.written[stream].flush(func(line []byte) { c.line(log, tenant, stream, line) })
	}
}
