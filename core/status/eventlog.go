package status

import (
	"context"
	"log/slog"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/internal/faultlog"
	"github.com/wardlet/wardlet/core/pod"
)

// Log writes events to a log: warnings at level WARN, others at INFO. A warning that
// repeats is written at most once a minute. It is safe for concurrent use.
type Log struct {
	logger *slog.Logger

	mu       sync.Mutex
	warnings faultlog.Pace
}

// NewLog makes a recorder that writes to logger.
func NewLog(logger *slog.Logger) *Log { return &Log{logger: logger} }

// Event implements Recorder.
func (l *Log) Event(p *v1.Pod, eventType, reason, message string) {
	level := slog.LevelInfo
	if eventType == v1.EventTypeWarning {
		level = slog.LevelWarn
		if l.repeats(p, reason, message) {
			return
		}
	}
	l.logger.Log(context.Background(), level, "pod event",
		"pod", p.Namespace+"/"+p.Name, "uid", p.UID, "source", p.Annotations[pod.AnnotationSource],
		"reason", reason, "message", message)
}

// repeats reports whether a warning was written less than a minute ago.
func (l *Log) repeats(p *v1.Pod, reason, message string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.warnings.Due(string(p.UID)+" "+reason, message, time.Now())
}
