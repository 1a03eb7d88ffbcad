package pluginlog

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm/safetext"
)

// These bound what one plugin may log about the pods of one tenant. A line has at
// most MaxLine bytes. burst bytes may be logged at once, and perMinute after that.
// Each line is charged its length with escapes, plus lineCost bytes.
const (
	MaxLine   = 4 << 10
	burst     = 32 << 10
	perMinute = 16 << 10
	lineCost  = 64
)

// Text is the log attribute that holds a line of a plugin.
const Text = "text"

// Levels are the ABI's log levels.
var Levels = [...]slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}

// Log logs a plugin's lines, with the name of its policy. Lines are charged
// to the tenant of the pod that the plugin is asked about: if lines about one
// tenant's pods are dropped, lines about others' are not.
type Log struct {
	// Logger adds the name of the policy. The host uses it for its own messages.
	Logger *slog.Logger
	// Enabled reports for each of Levels whether its lines are logged.
	Enabled [len(Levels)]bool
	// shares bounds what all plugins together may log about the pods of each
	// tenant.
	shares *Shares

	mu sync.Mutex
	of map[string]*budget
}

// silent is the key of contexts of calls whose lines are not logged.
type silent struct{}

// Silence returns a context for calls whose lines are not logged.
func Silence(ctx context.Context) context.Context {
	return context.WithValue(ctx, silent{}, true)
}

// budget is how many bytes may still be logged, as of a time, and how many lines
// were dropped since the last line that was logged.
type budget struct {
	left    float64
	at      time.Time
	dropped int
	// wary: a line was dropped because of its escapes. Until there is room for the
	// longest line, every line is assumed to have the most escapes, because finding
	// out its real length costs more than a plugin pays for a line.
	wary bool
}

// New returns the log of one policy's plugin. shares may be nil. New asks the logger
// once which levels are enabled, so that a plugin gets the same answer in every
// call.
func New(logger *slog.Logger, policy string, shares *Shares) *Log {
	l := &Log{Logger: logger.With("policy", policy), shares: shares, of: map[string]*budget{}}
	for i, level := range Levels {
		l.Enabled[i] = logger.Enabled(context.Background(), level)
	}
	return l
}

// Line logs a line. tenant is the tenant of the pod that the call is about, empty
// for the operator's pods and without a pod. text is not kept.
func (l *Log) Line(ctx context.Context, tenant string, level slog.Level, text []byte) {
	if ctx.Value(silent{}) != nil || !l.Logger.Enabled(ctx, level) {
		return
	}
	line, dropped, ok := l.admit(tenant, text)
	if !ok {
		return
	}
	logger := l.Logger
	if tenant != "" {
		logger = logger.With("tenant", tenant)
	}
	if dropped > 0 {
		logger.WarnContext(ctx, "lines of a plugin were dropped: it logs too much", "lines", dropped)
	}
	logger.Log(ctx, level, "a plugin logs", Text, line)
}

// admit returns a line as it is to be logged, if there is budget for it, and how
// many lines were dropped before it. The line is charged with its escapes: a
// control character is one byte of the plugin's text and six of the log.
func (l *Log) admit(tenant string, text []byte) (line string, dropped int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	b := l.of[tenant]
	if b == nil {
		b = &budget{left: burst, at: now}
		l.of[tenant] = b
	}
	b.fill(now, perMinute, burst)
	if !b.mayTake(len(text)) || !l.shares.mayTake(tenant, len(text), now) {
		b.dropped++
		return "", 0, false
	}
	line = safetext.Bounded(string(text), MaxLine)
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

// mostEscapes is the most by which escapes multiply the length of a text: a control
// character is one byte, its escape has six.
const mostEscapes = 6

// mayTake reports whether there may be room for a line of a length, without reading
// the line. Escapes never make a line shorter.
func (b *budget) mayTake(length int) bool {
	if b.wary = b.wary && b.left < MaxLine+lineCost; b.wary {
		length *= mostEscapes
	}
	return float64(min(length, MaxLine)+lineCost) <= b.left
}

// fill adds the budget for the time since the last fill, up to most. A clock that
// moves back adds nothing.
func (b *budget) fill(now time.Time, perMinute, most float64) {
	b.left = min(most, b.left+max(now.Sub(b.at), 0).Minutes()*perMinute)
	b.at = now
}

// Shares bounds what all plugins together may log about the pods of each tenant. It is safe
// for concurrent use. A nil Shares bounds nothing.
type Shares struct {
	// PerSecond is the limit in bytes, by tenant. A tenant without an entry has no
	// limit.
	PerSecond map[string]int

	mu sync.Mutex
	of map[string]*budget
}

// shareBurst is how many seconds of its rate a tenant may save up.
const shareBurst = 10

// mayTake reports whether there may be room for a line of a length.
func (s *Shares) mayTake(tenant string, length int, now time.Time) bool {
	if s == nil || s.PerSecond[tenant] <= 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.share(tenant, now).mayTake(length)
}

// take charges the cost of a line, and reports whether there was room for it.
func (s *Shares) take(tenant string, cost float64, now time.Time) bool {
	if s == nil || s.PerSecond[tenant] <= 0 {
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
func (s *Shares) share(tenant string, now time.Time) *budget {
	rate := float64(s.PerSecond[tenant])
	// There must be room for the longest line.
	most := max(shareBurst*rate, MaxLine+lineCost)
	b := s.of[tenant]
	if b == nil {
		if s.of == nil {
			s.of = map[string]*budget{}
		}
		b = &budget{left: most, at: now}
		s.of[tenant] = b
	}
	b.fill(now, rate*60, most)
	return b
}

// Lines splits what a guest writes to a file descriptor into lines.
type Lines struct{ rest []byte }

// Write adds data and calls emit for every finished line. Lines are cut to MaxLine bytes.
func (l *Lines) Write(data []byte, emit func(line []byte)) {
	for len(data) > 0 {
		line, after, ended := bytes.Cut(data, []byte{'\n'})
		room := MaxLine - len(l.rest)
		l.rest = append(l.rest, line[:min(room, len(line))]...)
		if ended {
			l.Flush(emit)
		}
		data = after
	}
}

// Flush calls emit for the unfinished line, if there is one.
func (l *Lines) Flush(emit func(line []byte)) {
	if len(l.rest) > 0 {
		emit(l.rest)
	}
	l.rest = l.rest[:0]
}
