package wasm

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"time"
)

// Bounds of what one plugin may log: maxLine bytes a line, logBurst bytes at
// once and logPerMinute after that. Each line counts lineCost bytes more than
// it has.
const (
	maxLine      = 4 << 10
	logBurst     = 32 << 10
	logPerMinute = 16 << 10
	lineCost     = 64
)

// levels are the ABI's log levels.
var levels = [...]slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}

// pluginLog is where a plugin's lines go, with the name of its policy.
type pluginLog struct {
	logger  *slog.Logger
	enabled [len(levels)]bool

	mu      sync.Mutex
	left    float64
	at      time.Time
	dropped int
}

// newPluginLog asks the logger once which levels it takes, so that a plugin
// gets the same answer in every call.
func newPluginLog(logger *slog.Logger, policy string) *pluginLog {
	l := &pluginLog{logger: logger.With("policy", policy), left: logBurst, at: time.Now()}
	for i, level := range levels {
		l.enabled[i] = logger.Enabled(context.Background(), level)
	}
	return l
}

func (l *pluginLog) line(ctx context.Context, level slog.Level, text string) {
	if !l.logger.Enabled(ctx, level) {
		return
	}
	dropped, ok := l.admit(len(text))
	if !ok {
		return
	}
	if dropped > 0 {
		l.logger.WarnContext(ctx, "lines of a plugin were dropped: it logs too much", "lines", dropped)
	}
	l.logger.Log(ctx, level, "a plugin logs", "text", printable(text))
}

// admit says whether a line of that length may be logged, and then how many
// were dropped before it.
func (l *pluginLog) admit(length int) (dropped int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.left = min(logBurst, l.left+now.Sub(l.at).Minutes()*logPerMinute)
	l.at = now
	cost := float64(length + lineCost)
	if cost > l.left {
		l.dropped++
		return 0, false
	}
	l.left -= cost
	dropped, l.dropped = l.dropped, 0
	return dropped, true
}

// lines puts together what a guest writes to a file descriptor.
type lines struct{ rest []byte }

// write takes the next bytes and hands every finished line to emit, the end of
// lines longer than maxLine left away.
func (l *lines) write(data []byte, emit func(line string)) {
	for len(data) > 0 {
		line, after, ended := bytes.Cut(data, []byte{'\n'})
		room := maxLine - len(l.rest)
		l.rest = append(l.rest, line[:min(room, len(line))]...)
		if ended {
			l.flush(emit)
		}
		data = after
	}
}

// flush hands over what is left of a line.
func (l *lines) flush(emit func(line string)) {
	if len(l.rest) > 0 {
		emit(string(l.rest))
	}
	l.rest = l.rest[:0]
}
