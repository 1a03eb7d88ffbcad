package wasm

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"math/rand/v2"
	"time"
)

// call is what the host functions work on while the guest runs.
type call struct {
	ctx context.Context //nolint:containedctx // of the one call under way, for its log lines
	// declared is what the guest declares, nil where it may not.
	declared *projection
	// refused is why the last path was not taken.
	refused error
	output  output
	// now is the frozen wall clock, elapsed what the guest waited since.
	now     time.Time
	elapsed time.Duration
	// seed is what the random numbers of this call come from.
	seed   func() [sha256.Size]byte
	random *rand.ChaCha8
	// written holds what is not a whole line yet, of standard output and of
	// standard error; complaint is the first line of the latter.
	written   [2]lines
	complaint string
}

// startTime is what the clock shows while a plugin initialises itself: some
// instant that is the same everywhere.
var startTime = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

func (c *call) read(random []byte) {
	if c.random == nil {
		c.random = rand.NewChaCha8(c.seed())
	}
	_, _ = c.random.Read(random) // never fails
}

// write takes what the guest wrote to its standard output (0) or error (1).
func (c *call) write(log *pluginLog, stream int, data []byte) {
	c.written[stream].write(data, func(line string) { c.line(log, stream, line) })
}

func (c *call) line(log *pluginLog, stream int, line string) {
	level := slog.LevelInfo
	if stream == 1 {
		level = slog.LevelWarn
		if c.complaint == "" {
			c.complaint = line
		}
	}
	log.line(c.ctx, level, line)
}

// flush logs what was not ended by a newline.
func (c *call) flush(log *pluginLog) {
	for stream := range c.written {
		c.written[stream].flush(func(line string) { c.line(log, stream, line) })
	}
}
