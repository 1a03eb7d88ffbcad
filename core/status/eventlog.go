package status

import (
	"context"
	"log/slog"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Log writes every event to a log: warnings at level WARN, others at INFO.
type Log struct{ logger *slog.Logger }

// NewLog makes a recorder that writes to logger.
func NewLog(logger *slog.Logger) *Log { return &Log{logger: logger} }

// Event implements Recorder.
func (l *Log) Event(p *v1.Pod, eventType, reason, message string) {
	level := slog.LevelInfo
	if eventType == v1.EventTypeWarning {
		level = slog.LevelWarn
	}
	l.logger.Log(context.Background(), level, "pod event",
		"pod", p.Namespace+"/"+p.Name, "uid", p.UID, "source", p.Annotations[pod.AnnotationSource],
		"reason", reason, "message", message)
}
