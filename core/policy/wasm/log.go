package wasm

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"time"
)

// Bounds of what one plugin may log about the pods of one tenant: maxLine bytes a line, logBurst bytes at
// once and logPerMinute after that. Each line counts lineCost bytes more than
// it has when it is written, with escapes.
const (
	maxLine      = 4 << 10
	logBurst     = 32 << 10
	logPerMinute = 16 << 10
	lineCost     = 64
)

// LogText is the attribute that has a line which a plugin logs.
const LogText = "text"

// levels are the ABI's log levels.
var levels = [...]slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}

// pluginLog is where a plugin's lines go, with the name of its policy. Lines are
// charged to the tenant of the pod that the plugin is asked about: where that has
// its lines dropped, those about others are not.
type pluginLog struct {
	logger  *slog.Logger
	enabled [len(levels)]bool
	// shares are what plugins may log together about the pods of each tenant.
	shares *logShares

	mu sync.Mutex
	of map[string]*logBudget
}

// logBudget is what may still be logged, in bytes at a time, and how many lines
// were dropped since the last one that was not.
type logBudget struct {
	left    float64
	at      time.Time
	dropped int
	// wary: a line was dropped because of its escapes. Until there is room for the
	// longest line, lines are taken for the longest that escapes may make them: how long
	// one really becomes costs more to find out than a plugin pays for a line.
	wary bool
}

// newPluginLog asks the logger once which levels it takes, so that a plugin
// gets the same answer in every call.
func newPluginLog(logger *slog.Logger, policy string, shares *logShares) *pluginLog {
	l := &pluginLog{logger: logger.With("policy", policy), shares: shares, of: map[string]*logBudget{}}
	for i, level := range levels {
		l.enabled[i] = logger.Enabled(context.Background(), level)
	}
	return l
}

// line logs a line about a pod of a tenant, empty for the operator's, if there is
// a pod. text is not kept.
func (l *pluginLog) line(ctx context.Context, tenant string, level slog.Level, text []byte) {
	if silences(ctx) || !l.logger.Enabled(ctx, level) {
		return
	}
	line, dropped, ok := l.admit(tenant, text)
	if !ok {
		return
	}
	logger := l.logger
	if tenant != "" {
		logger = logger.With("tenant", tenant)
	}
	if dropped > 0 {
		logger.WarnContext(ctx, "lines of a plugin were dropped: it logs too much", "lines", dropped)
	}
	logger.Log(ctx, level, "a plugin logs", LogText, line)
}

// admit returns a line as it is logged, if it may be, and how many were dropped before
// it. What is charged is the line with its escapes: a control character is one byte of the
// plugin's and six of the log.
func (l *pluginLog) admit(tenant string, text []byte) (line string, dropped int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	b := l.of[tenant]
	if b == nil {
		b = &logBudget{left: logBurst, at: now}
		l.of[tenant] = b
	}
	b.fill(now, logPerMinute, logBurst)
	if !b.mayTake(len(text)) || !l.shares.mayTake(tenant, len(text), now) {
		b.dropped++
		return "", 0, false
	}
	line = bounded(string(text), maxLine)
	cost := float64(len(line) + lineCost)
	if cost > b.left {
		b.wary = true
		b.dropped++
		return "", 0, false
	}
	if !l.shares.take(tenant, cost, now) {
		b.dropped++
		return "", 0, false
	}
	b.left -= cost
	dropped, b.dropped = b.dropped, 0
	return line, dropped, true
}

// maxEscape is how much longer escapes make a text at most: a control character is one
// byte, its escape six.
const maxEscape = 6

// mayTake reports, without a look at it, whether there may be room for a line of so many
// bytes. With escapes it is no shorter.
func (b *logBudget) mayTake(length int) bool {
	if b.wary = b.wary && b.left < maxLine+lineCost; b.wary {
		length *= maxEscape
	}
	return float64(min(length, maxLine)+lineCost) <= b.left
}

// fill adds what has come in since, as far as there is room. A clock that goes back
// adds nothing.
func (b *logBudget) fill(now time.Time, perMinute, most float64) {
	b.left = min(most, b.left+max(now.Sub(b.at), 0).Minutes()*perMinute)
	b.at = now
}

// logShares are what all plugins together may log about the pods of each tenant.
// They are safe for concurrent use; nil bounds nothing.
type logShares struct {
	// perSecond are bytes by tenant; who is not in it may log any amount.
	perSecond map[string]int

	mu sync.Mutex
	of map[string]*logBudget
}

// shareBurst is for how many seconds a tenant may save up.
const shareBurst = 10

// mayTake reports whether there may be room for a line of so many bytes.
func (s *logShares) mayTake(tenant string, length int, now time.Time) bool {
	if s == nil || s.perSecond[tenant] <= 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.share(tenant, now).mayTake(length)
}

// take takes what a line costs, if there is so much.
func (s *logShares) take(tenant string, cost float64, now time.Time) bool {
	if s == nil || s.perSecond[tenant] <= 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.share(tenant, now)
	if cost > b.left {
		b.wary = true
		return false
	}
	b.left -= cost
	return true
}

// share returns a tenant's share as it is now. The caller holds mu.
func (s *logShares) share(tenant string, now time.Time) *logBudget {
	rate := float64(s.perSecond[tenant])
	// The longest line must fit in.
	most := max(shareBurst*rate, maxLine+lineCost)
	b := s.of[tenant]
	if b == nil {
		if s.of == nil {
			s.of = map[string]*logBudget{}
		}
		b = &logBudget{left: most, at: now}
		s.of[tenant] = b
	}
	b.fill(now, rate*60, most)
	return b
}

// lines puts together what a guest writes to a file descriptor.
type lines struct{ rest []byte }

// write takes the next bytes and hands every finished line to emit, the end of
// lines longer than maxLine left away.
func (l *lines) write(data []byte, emit func(line []byte)) {
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
func (l *lines) flush(emit func(line []byte)) {
	if len(l.rest) > 0 {
		emit(l.rest)
	}
	l.rest = l.rest[:0]
}
