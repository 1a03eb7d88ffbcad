package runtime

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/runtime/criconfig"
)

func TestTerminationMessage(t *testing.T) {
	t.Parallel()
	const fallBack = string(v1.TerminationMessageFallbackToLogsOnError)
	logged := "2026-01-02T03:04:05Z stdout F one\n2026-01-02T03:04:05Z stderr F two\n"
	for name, tc := range map[string]struct {
		file, log string // "-" for no such file
		policy    string
		code      int32
		want      string
	}{
		"what the file says":                   {file: "bye", log: logged, code: 1, want: "bye"},
		"the file's last 4096 bytes":           {file: strings.Repeat("a", 10) + strings.Repeat("b", 4096), want: strings.Repeat("b", 4096)},
		"nothing":                              {log: logged, code: 1, want: ""},
		"no file":                              {file: "-", log: logged, code: 1, want: ""},
		"the log where it asks for that":       {log: logged, policy: fallBack, code: 1, want: "one\ntwo\n"},
		"the log also when the file is gone":   {file: "-", log: logged, policy: fallBack, code: 1, want: "one\ntwo\n"},
		"the file before the log":              {file: "bye", log: logged, policy: fallBack, code: 1, want: "bye"},
		"not the log of one that succeeded":    {log: logged, policy: fallBack, code: 0, want: ""},
		"a log that cannot be read is said so": {log: "-", policy: fallBack, code: 1, want: "termination message cannot be read from the log: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, log := filepath.Join(t.TempDir(), "message"), filepath.Join(t.TempDir(), "0.log")
			for path, content := range map[string]string{file: tc.file, log: tc.log} {
				if content != "-" {
					write(t, path, content)
				}
			}
			got := terminationMessage(&runtimeapi.ContainerStatus{
				ExitCode: tc.code, LogPath: log,
				Annotations: map[string]string{criconfig.AnnotationMessagePath: "/dev/termination-log", criconfig.AnnotationMessagePolicy: tc.policy},
				Mounts:      []*runtimeapi.Mount{{ContainerPath: "/x", HostPath: "/"}, {ContainerPath: "/dev/termination-log", HostPath: file}},
			})
			if tc.log == "-" {
				if !strings.HasPrefix(got, tc.want) {
					t.Errorf("message %q, want %q…", got, tc.want)
				}
				return
			}
			mustEqual(t, "message", tc.want, got)
		})
	}
}

// A hostPath volume can put anything in place of a message or a log.
func TestOnlyARegularFileIsReadForATerminationMessage(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(path, other string) error{
		"not a directory":        func(path, _ string) error { return os.Mkdir(path, 0o700) },
		"not a pipe":             func(path, _ string) error { return syscall.Mkfifo(path, 0o666) },
		"not a link":             func(path, other string) error { return os.Symlink(other, path) },
		"not a link to a device": func(path, _ string) error { return os.Symlink("/dev/zero", path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path, other := filepath.Join(dir, "f"), filepath.Join(dir, "other")
			write(t, other, "secret")
			if err := plant(path, other); err != nil {
				t.Fatal(err)
			}
			wantMessage(t, "termination message cannot be read: "+path+" is not a regular file", &runtimeapi.ContainerStatus{
				Annotations: map[string]string{criconfig.AnnotationMessagePath: "/m"},
				Mounts:      []*runtimeapi.Mount{{ContainerPath: "/m", HostPath: path}},
			})
			wantMessage(t, "termination message cannot be read from the log: "+path+" is not a regular file", &runtimeapi.ContainerStatus{
				Annotations: map[string]string{criconfig.AnnotationMessagePolicy: string(v1.TerminationMessageFallbackToLogsOnError)},
				LogPath:     path, ExitCode: 1,
			})
		})
	}
}

// wantMessage checks that a termination message arrives and how it begins.
func wantMessage(t *testing.T, want string, c *runtimeapi.ContainerStatus) {
	t.Helper()
	message := make(chan string, 1)
	go func() { message <- terminationMessage(c) }()
	select {
	case got := <-message:
		if !strings.HasPrefix(got, want) {
			t.Errorf("message %q, want %q…", got, want)
		}
	case <-time.After(10 * time.Second):
		t.Errorf("no message, want %q…", want)
	}
}

func logLines(n int, text func(i int) string) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "2026-01-02T03:04:05.123456789Z stdout F %s\n", text(i))
	}
	return out.String()
}

func TestLastLogLines(t *testing.T) {
	t.Parallel()
	tail := func(n int) string { return strings.Repeat("y", n) }
	long := "t stdout F " + tail(3*logBlock)
	for name, tc := range map[string]struct{ log, want string }{
		"empty":                           {"", ""},
		"fewer lines than may be":         {logLines(2, strconv.Itoa), "0\n1\n"},
		"the last lines":                  {logLines(5, strconv.Itoa), "2\n3\n4\n"},
		"parts are joined":                {"t stdout P a\nt stdout F b\n", "ab\n"},
		"further tags":                    {"t stdout P:x a\nt stdout F:x b\n", "ab\n"},
		"empty lines and spaces":          {"t stdout F \nt stdout F a  b \n", "\na  b \n"},
		"a line that is not ended yet":    {"t stdout F a\nt stdout F b", "a\nb\n"},
		"what is not in the format":       {"hello\nt stdout F a\n\n", "a\n"},
		"the last bytes":                  {logLines(3, func(int) string { return strings.Repeat("x", 40) }), strings.Repeat("x", 17) + "\n" + strings.Repeat("x", 40) + "\n" + strings.Repeat("x", 40) + "\n"},
		"a log longer than what is read":  {logLines(5000, strconv.Itoa), "4997\n4998\n4999\n"},
		"a long line":                     {long + "END\n", tail(96) + "END\n"},
		"a long line that is not ended":   {long + "END", tail(96) + "END\n"},
		"a long line, then a short one":   {long + "\nt stdout F a\n", tail(97) + "\na\n"},
		"a short line, then a long one":   {"t stdout F a\nt stdout F " + tail(50) + "\n" + long + "\n", tail(99) + "\n"},
		"a long part":                     {strings.Replace(long, " F ", " P ", 1) + "\nt stdout F a\n", tail(98) + "a\n"},
		"a line of one block":             {"t stdout F " + strings.Repeat("y", logBlock-12) + "\n", tail(99) + "\n"},
		"a newline ends a block":          {"t stdout F a\n" + strings.Repeat("t stdout F yyyy\n", logBlock/16), strings.Repeat("yyyy\n", 3)},
		"a long line in another format":   {strings.Repeat("y", 2*logBlock) + "\nt stdout F a\n", "a\n"},
		"a line longer than is looked at": {"t stdout P " + strings.Repeat("y", maxLogScan) + "\nt stdout F a\n", tail(97) + "\na\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "0.log")
			write(t, path, tc.log)
			got, err := lastLogLines(path, 3, 100)
			if err != nil {
				t.Fatal(err)
			}
			mustEqual(t, "text", tc.want, string(got))
		})
	}
}

func FuzzLogText(f *testing.F) {
	f.Add([]byte("2026-01-02T03:04:05.123456789Z stdout F hello world\n"))
	f.Add([]byte("t stderr P:x part"))
	f.Add([]byte("   \n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if got := logText(line); len(got) > len(line)+1 {
			t.Errorf("%q gives more than it holds: %q", line, got)
		}
	})
}
