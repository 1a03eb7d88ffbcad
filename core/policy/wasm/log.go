package wasm

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"time"
)

// These bound what one plugin may log about the pods of one tenant. A line has at
// most maxLine bytes. logBurst bytes may be logged at once, and logPerMinute after
// that. Each line is charged its length with escapes, plus lineCost bytes.
const (
	maxLine      = 4 << 10
	logBurst     = 32 << 10
	logPerMinute = 16 << 10
	lineCost     = 64
)

// LogText is the log attribute that holds a line of a plugin.
const LogText = "text"

// levels are the ABI's log levels.
var levels = [...]slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}

// pluginLog logs a plugin's lines, with the name of its policy. Lines are charged
// to the tenant of the pod that the plugin is asked about: if lines about one
// tenant's pods are dropped, lines about others' are not.
type pluginLog struct {
	logger  *slog.Logger
	enabled [len(levels)]bool
	// shares bounds what all plugins together may log about the pods of each
	// tenant.
	shares *logShares

	mu sync.Mutex
	of map[string]*logBudget
}

// logBudget is how many bytes may still be logged, as of a time, and how many lines
// were dropped since the last line that was logged.
type logBudget struct {
	left    float64
	at      time.Time
	dropped int
	// wary: a line was dropped because of its escapes. Until there is room for the
	// longest line, every line is assumed to have the most escapes, because finding
	// out its real length costs more than a plugin pays for a line.
	wary bool
}

// newPluginLog asks the logger once which levels are enabled, so that a plugin gets
// the same answer in every call.
func newPluginLog(logger *slog.Logger, policy string, shares *logShares) *pluginLog {
	l := &pluginLog{logger: logger.With("policy", policy), shares: shares, of: map[string]*logBudget{}}
	for i, level := range levels {
		l.enabled[i] = logger.Enabled(context.Background(), level)
	}
	return l
}

// line logs a line. tenant is the tenant of the pod that the call is about, empty
// for the operator's pods and without a pod. text is not kept.
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

// admit returns a line as it is to be logged, if there is budget for it, and how
// many lines were dropped before it. The line is charged with its escapes: a
// control character is one byte of the plugin's text and six of the log.
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

// maxEscape is the most by which escapes multiply the length of a text: a control
// character is one byte, its escape has six.
const maxEscape = 6

// mayTake reports whether there may be room for a line of a length, without reading
// the line. Escapes never make a line shorter.
func (b *logBudget) mayTake(length int) bool {
	if b.wary = b.wary && b.left < maxLine+lineCost; b.wary {
		length *= maxEscape
	}
	return float64(min(length, maxLine)+lineCost) <= b.left
}

// fill adds the budget for the time since the last fill, up to most. A clock that
// moves back adds nothing.
func (b *logBudget) fill(now time.Time, perMinute, most float64) {
	b.left = min(most, b.left+max(now.Sub(b.at), 0).Minutes()*perMinute)
	b.at = now
}

// logShares bounds what all plugins together may log about the pods of each tenant.
// It is safe for concurrent use. A nil logShares bounds nothing.
type logShares struct {
	// perSecond is the limit in bytes, by tenant. A tenant without an entry has no
	// limit.
	perSecond map[string]int

	mu sync.Mutex
	of map[string]*logBudget
}

// shareBurst is how many seconds of its rate a tenant may save up.
const shareBurst = 10

// mayTake reports whether there may be room for a line of a length.
func (s *logShares) mayTake(tenant string, length int, now time.Time) bool {
	if s == nil || s.perSecond[tenant] <= 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.share(tenant, now).mayTake(length)
}

// take charges the cost of a line, and reports whether there was room for it.
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

// share returns a tenant's budget, filled up to now. The caller holds mu.
func (s *logShares) share(tenant string, now time.Time) *logBudget {
	rate := float64(s.perSecond[tenant])
	// There must be room for the longest line.
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

// lines splits what a guest writes to a file descriptor into lines.
type lines struct{ rest []byte }

// write adds data and calls emit for every finished line. Lines are cut to maxLine
// bytes.
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

// flush calls emit for the unfinished line, if there is one.
func (l *lines) flush(emit func(line []byte)) {
	if len(l.rest) > 0 {
		emit(l.rest)
	}
	l.rest = l.rest[:0]
}
