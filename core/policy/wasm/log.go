package wasm

import (
	"bytes"
	"context"
	"log/slog"
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
	now := time.Now()
	l.left = min(logBurst, l.left+now.Sub(l.at).Minutes()*logPerMinute)
	l.at = now
	if cost := float64(len(text) + lineCost); cost <= l.left {
		l.left -= cost
	} else {
		l.dropped++
		return
	}
	if l.dropped > 0 {
		l.logger.WarnContext(ctx, "lines of a plugin were dropped: it logs too much", "lines", l.dropped)
		l.dropped = 0
	}
	l.logger.Log(ctx, level, "a plugin logs", "text", printable(text))
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
