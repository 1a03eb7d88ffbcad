package sdk

import "github.com/wardlet/wardlet/plugins/sdk/internal/host"

// Level is the importance of a line of the log.
type Level int32

// The levels.
const (
	LevelDebug Level = iota
	LevelInfo
	LevelWarn
	LevelError
)

// Logger writes to the agent's log, with the policy's name. A line is cut to
// 4 KiB, and a plugin that logs too much loses lines.
type Logger struct{}

// Log is the plugin's log.
var Log Logger

// Debug writes a line that helps to find an error.
func (Logger) Debug(text string) { host.Log(int32(LevelDebug), text) }

// Info writes a line about an ordinary event.
func (Logger) Info(text string) { host.Log(int32(LevelInfo), text) }

// Warn writes a line about something unexpected.
func (Logger) Warn(text string) { host.Log(int32(LevelWarn), text) }

// Error writes a line about a failure.
func (Logger) Error(text string) { host.Log(int32(LevelError), text) }

// Enabled reports whether the agent logs lines of a level. Call it before you compose a
// line that is expensive to compose.
func (Logger) Enabled(l Level) bool { return host.LogEnabled(int32(l)) }
