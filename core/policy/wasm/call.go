package wasm

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"math/rand/v2"
	"time"
)

// maxKept is the largest capacity of a buffer that is kept for the next call, in
// bytes.
const maxKept = 256 << 10

// call is the state that host functions work on while the guest runs. Calls of
// hooks reuse it: renew empties it and keeps its buffers.
type call struct {
	ctx context.Context // of the one call under way, for its log lines
	// declared is the projection that the guest declares paths in; nil while it
	// must not declare any.
	declared *projection
	// refused is the error of the last path that was refused.
	refused error
	// wants are the fields that a hook may get; nil outside of hooks.
	wants     *projection
	query     query
	documents documents
	record    record
	// steps parses the path of a setting.
	steps  steps
	output output
	// now is the time of the wall clock, which stands still. elapsed is how long
	// the guest has asked to wait since the call began.
	now     time.Time
	elapsed time.Duration
	// random returns the guest's random numbers once seeded is true.
	random rand.ChaCha8
	seeded bool
	// written holds unfinished lines of standard output and of standard error.
	// complaint is the first line of standard error.
	written   [2]lines
	complaint string
	// fetched is what a hook has fetched in addition to its record.
	fetched fetched
	// paths is what reads returned last, for the fetches in pathsOf. The next call
	// mostly fetches the same.
	paths   []string
	pathsOf fetched
}

// startTime is the time that the clock shows while a plugin initialises itself. It
// must be the same on every node; its value does not matter.
var startTime = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// renew prepares the call for a hook. wants is what the guest declared.
func (c *call) renew(wants *projection, now time.Time) {
	c.wants, c.now = wants, now
	c.elapsed, c.seeded, c.complaint, c.fetched = 0, false, "", fetched{}
	c.output = output{}
}

// forget releases the question and what was made for it.
func (c *call) forget() {
	c.ctx, c.wants = nil, nil
	c.query.forget()
	c.documents.forget(maxKept)
	c.record.forget(maxKept)
	c.output = output{}
}

// read fills random with random numbers. In a hook their seed is made of own, the
// plugin's seed, and the whole question. During the initialisation it is own alone.
// charge is called for each document that is encoded as JSON for the seed, see
// documents.seed.
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

// write logs what the guest wrote to its standard output (0) or standard error (1)
// while it was asked about a pod of the tenant.
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

// flush logs the lines that did not end with a newline.
func (c *call) flush(log *pluginLog, tenant string) {
	for stream := range c.written {
		c.written[stream].flush(func(line []byte) { c.line(log, tenant, stream, line) })
	}
}
