package fakecri

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// annotationMessagePath is the annotation in which a kubelet records the path of a container's
// termination message.
const annotationMessagePath = "io.kubernetes.container.terminationMessagePath"

// Program describes what the process of an image would do. The zero Program runs
// until it is stopped.
type Program struct {
	// User is the image's user, by number or name; empty if the image has none.
	User string
	// Exits makes the process exit by itself, After its start, with Code.
	Exits bool
	After time.Duration
	Code  int32
	// IgnoresTerm makes StopContainer wait for its whole timeout.
	IgnoresTerm bool
	// StartError makes StartContainer fail with this text, as when the
	// binary is missing.
	StartError string
	// Log has the lines on standard output, written at the start.
	Log []string
	// Message is written to the termination message file at the start.
	Message string
}

// start writes the files that the program writes, if the container's directories
// exist.
func (c *container) start(p Program, now time.Time) error {
	if log := c.logPath(); log != "" {
		if _, err := os.Stat(filepath.Dir(log)); err == nil {
			var lines strings.Builder
			for _, line := range p.Log {
				fmt.Fprintf(&lines, "%s stdout F %s\n", now.Format(time.RFC3339Nano), line)
			}
			if err := os.WriteFile(log, []byte(lines.String()), 0o640); err != nil {
				return err
			}
		}
	}
	path := c.config.GetAnnotations()[annotationMessagePath]
	for _, mount := range c.config.GetMounts() {
		if p.Message != "" && mount.GetContainerPath() == path {
			return os.WriteFile(mount.GetHostPath(), []byte(p.Message), 0o666)
		}
	}
	return nil
}

func (c *container) logPath() string {
	if c.sandbox.config.GetLogDirectory() == "" || c.config.GetLogPath() == "" {
		return ""
	}
	return filepath.Join(c.sandbox.config.GetLogDirectory(), c.config.GetLogPath())
}

// settle marks a container as exited if its program would have exited by now.
func (s *Server) settle(c *container) {
	if c.state != runtimeapi.ContainerState_CONTAINER_RUNNING || !c.program.Exits {
		return
	}
	if at := c.startedAt.Add(c.program.After); !s.now().Before(at) {
		c.exit(at, c.program.Code, reasonOf(c.program.Code))
		s.emit(c.sandbox, c.id, runtimeapi.ContainerEventType_CONTAINER_STOPPED_EVENT)
	}
}

// end marks a running container as exited now.
func (s *Server) end(c *container, code int32, reason string) {
	s.settle(c)
	if c.state == runtimeapi.ContainerState_CONTAINER_RUNNING {
		c.exit(s.now(), code, reason)
		s.emit(c.sandbox, c.id, runtimeapi.ContainerEventType_CONTAINER_STOPPED_EVENT)
	}
}

func (c *container) exit(at time.Time, code int32, reason string) {
	c.state = runtimeapi.ContainerState_CONTAINER_EXITED
	c.finishedAt, c.exitCode, c.reason = at, code, reason
}

func reasonOf(code int32) string {
	if code == 0 {
		return "Completed"
	}
	return "Error"
}
