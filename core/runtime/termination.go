package runtime

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// How much of a termination message counts, in bytes; of a log that stands in
// for it, in bytes and lines.
const (
	maxMessageFile  = 4096
	maxMessageLog   = 2048
	maxMessageLines = 80
)

// messageFile is the host's side of a container's termination message file:
// eight hex digits, one file per attempt.
func (r *Runtime) messageFile(run *pod.ContainerRun) string {
	return filepath.Join(r.config.Layout.ContainerDir(run.Pod.UID, run.Container.Name), fmt.Sprintf("%08x", run.Attempt))
}

// writeMessageFile makes the file empty and writable for whatever user the
// container runs as.
func (r *Runtime) writeMessageFile(run *pod.ContainerRun) error {
	if run.Container.TerminationMessagePath == "" {
		return nil
	}
	file := r.messageFile(run)
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return fmt.Errorf("termination message file: %w", err)
	}
	if err := os.WriteFile(file, nil, 0o666); err != nil { // any user of the container writes it
		return fmt.Errorf("termination message file: %w", err)
	}
	if err := os.Chmod(file, 0o666); err != nil { // the umask took bits away
		return fmt.Errorf("termination message file: %w", err)
	}
	return nil
}

// removeMessageFile removes the file made for a container, found by its
// mount.
func (r *Runtime) removeMessageFile(uid types.UID, c *runtimeapi.ContainerStatus) error {
	file := mountedMessageFile(c)
	if filepath.Dir(file) != r.config.Layout.ContainerDir(uid, c.GetMetadata().GetName()) {
		return nil // a volume of the pod's is mounted there
	}
	if err := removeFile(file); err != nil {
		return fmt.Errorf("termination message file: %w", err)
	}
	return nil
}

// mountedMessageFile is the host's side of the file a container was told to
// write its message to, "" where there is none.
func mountedMessageFile(c *runtimeapi.ContainerStatus) string {
	path := c.GetAnnotations()[annotationMessagePath]
	for _, m := range c.GetMounts() {
		if path != "" && m.GetContainerPath() == path {
			return m.GetHostPath()
		}
	}
	return ""
}

// terminationMessage is what an exited container left to be reported: the end
// of its message file or, where it asks for that, failed and wrote nothing,
// the end of its log.
func terminationMessage(c *runtimeapi.ContainerStatus) string {
	var message []byte
	if file := mountedMessageFile(c); file != "" {
		var err error
		message, err = readTail(file, maxMessageFile)
		if errors.Is(err, errIrregular) {
			err = fmt.Errorf("%w; mount a file there, or set another terminationMessagePath", err)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("termination message cannot be read: %v", err)
		}
	}
	fallBack := c.GetAnnotations()[annotationMessagePolicy] == string(v1.TerminationMessageFallbackToLogsOnError)
	if len(message) > 0 || !fallBack || c.GetExitCode() == 0 {
		return string(message)
	}
	message, err := lastLogLines(c.GetLogPath(), maxMessageLines, maxMessageLog)
	if err != nil {
		return fmt.Sprintf("termination message cannot be read from the log: %v", err)
	}
	return string(message)
}

// readTail reads at most n bytes from the end of a regular file.
func readTail(path string, n int64) ([]byte, error) {
	f, info, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(max(info.Size()-n, 0), io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, n))
}
