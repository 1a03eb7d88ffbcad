package sdk

import "github.com/wardlet/wardlet/plugins/sdk/internal/host"

// Level is how much a line of the log matters.
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

// Debug writes a line that helps to find a mistake.
func (Logger) Debug(text string) { host.Log(int32(LevelDebug), text) }

// Info writes a line that says what happened.
func (Logger) Info(text string) { host.Log(int32(LevelInfo), text) }

// Warn writes a line about what is not as it should be.
func (Logger) Warn(text string) { host.Log(int32(LevelWarn), text) }

// Error writes a line about what went wrong.
func (Logger) Error(text string) { host.Log(int32(LevelError), text) }

// Enabled reports whether lines of a level are written anywhere. Ask before
// composing a line that costs something.
func (Logger) Enabled(l Level) bool { return host.LogEnabled(int32(l)) }
