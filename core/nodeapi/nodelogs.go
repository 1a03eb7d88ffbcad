package nodeapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// NodeLogs are the logs of the machine.
type NodeLogs struct {
	// Dir is the directory of log files, /var/log.
	Dir string
	// Journal is the program that prints the journal: journalctl, or a path.
	Journal string
}

// logSubresource is the right to read the logs of the machine.
const logSubresource = "log"

// The limits of a query, as with a kubelet, and how long it may take.
const (
	maxTailLines = 100000
	maxBoots     = 100
	queryTimeout = 30 * time.Second
)

// logBlock is the size of the blocks in which files are read, in bytes. A pattern sees no more of a
// line.
const logBlock = 64 << 10

var errQueryTimeout = fmt.Errorf("the query has taken %s; ask for fewer lines with tailLines, or read the file at /logs/NAME", queryTimeout)

// nodeLogs serves files of the directory of logs, or with a query, the logs of services.
func (s *Server) nodeLogs(w http.ResponseWriter, req *http.Request) {
	if s.cfg.NodeLogs == nil {
		http.Error(w, "logs of the machine are not served: node_api.system_logs is false", http.StatusMethodNotAllowed)
		return
	}
	query := req.URL.Query()
	if query.Has("query") {
		s.cfg.NodeLogs.answer(w, req, query)
		return
	}
	root, err := os.OpenRoot(s.cfg.NodeLogs.Dir)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer root.Close()
	http.StripPrefix("/logs/", http.FileServerFS(logDir{root})).ServeHTTP(w, req)
}

// logDir is the directory of logs, as a file system that nothing leads out of.
type logDir struct{ root *os.Root }

// maxLinks is how many absolute links after each other are followed.
const maxLinks = 8

// Open opens a file or a directory. The links in /var/log/containers are absolute; those to a place
// below the directory are followed. Pipes and devices are refused: to open a pipe would wait for a
// writer.
func (d logDir) Open(name string) (fs.File, error) {
	file, err := d.find(name)
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (d logDir) find(name string) (*os.File, error) {
	file, err := d.open(name)
	for range maxLinks {
		target, isLink := d.root.Readlink(name)
		if err == nil || isLink != nil || !filepath.IsAbs(target) {
			break
		}
		below, outside := filepath.Rel(d.root.Name(), target)
		if outside != nil || !filepath.IsLocal(below) {
			break
		}
		name = below
		file, err = d.open(name)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: errNoFile}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func (d logDir) open(name string) (*os.File, error) {
	return d.root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
}

// errNoFile is served as 403.
var errNoFile = fmt.Errorf("is no file: %w", fs.ErrPermission)

// logQuery is a query of the logs of services, or of one file.
type logQuery struct {
	services []string
	// file is a path below the directory of logs, empty for a query of services.
	file         string
	since, until time.Time
	// lines is how many lines are returned, counted from the last; -1 for all.
	lines   int
	pattern *regexp.Regexp
	// boot is 0 for the current boot, and less for earlier ones; nil for all.
	boot *int
}

// serviceName is the form of the name of a service. It cannot be an option, or a path.
var serviceName = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_.@:\\-]*$`)

// parseLogQuery reads the parameters of a query, as a kubelet has them.
func parseLogQuery(query url.Values) (*logQuery, error) {
	q := &logQuery{lines: -1}
	var faults []error
	fault := func(key, want string) {
		faults = append(faults, fmt.Errorf("%s: want %s, found %q", key, want, query.Get(key)))
	}
	for _, name := range query["query"] {
		switch {
		case strings.HasPrefix(name, "/") && q.file == "":
			q.file = strings.TrimPrefix(filepath.Clean(name), "/")
		case serviceName.MatchString(name):
			q.services = append(q.services, name)
		default:
			faults = append(faults, fmt.Errorf("query: want the names of services, or one file such as /messages, found %q", name))
		}
	}
	if q.file != "" && len(q.services) > 0 {
		faults = append(faults, errors.New("query: want services or a file, not both"))
	}
	for key, into := range map[string]*time.Time{"sinceTime": &q.since, "untilTime": &q.until} {
		if text := query.Get(key); text != "" {
			var err error
			if *into, err = time.Parse(time.RFC3339, text); err != nil {
				fault(key, "a time such as 2026-01-02T03:04:05Z")
			}
		}
	}
	if text := query.Get("tailLines"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > maxTailLines {
			fault("tailLines", fmt.Sprintf("a number from 0 to %d", maxTailLines))
		}
		q.lines = n
	}
	if text := query.Get("boot"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n > 0 || n < -maxBoots {
			fault("boot", fmt.Sprintf("0, or a number down to -%d", maxBoots))
		}
		q.boot = &n
	}
	if text := query.Get("pattern"); text != "" {
		var err error
		if q.pattern, err = regexp.Compile(text); err != nil {
			fault("pattern", "a regular expression")
		}
	}
	if !q.since.IsZero() && !q.until.IsZero() && q.since.After(q.until) {
		faults = append(faults, errors.New("sinceTime is after untilTime"))
	}
	return q, errors.Join(faults...)
}

// answer serves a query.
func (l *NodeLogs) answer(w http.ResponseWriter, req *http.Request, values url.Values) {
	q, err := parseLogQuery(values)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	ctx, cancel := context.WithTimeoutCause(req.Context(), queryTimeout, errQueryTimeout)
	defer cancel()
	if q.file != "" {
		file, size, err := l.open(q.file)
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		defer file.Close()
		if err := printLines(ctx, w, file, size, q); err != nil {
			fmt.Fprintf(w, "\n/%s: %v\n", q.file, err) // the answer has begun
		}
		return
	}
	for _, service := range q.services {
		if err := l.printService(ctx, w, q, service); err != nil {
			fmt.Fprintf(w, "\n%s: %v\n", service, err) // the answer has begun
		}
	}
}

// printService prints the journal of a service, or its log file if it logs into one.
func (l *NodeLogs) printService(ctx context.Context, w io.Writer, q *logQuery, service string) error {
	for _, name := range []string{service + ".log", service, filepath.Join(service, service+".log")} {
		if info, err := os.Stat(filepath.Join(l.Dir, name)); err == nil && info.Mode().IsRegular() {
			file, size, err := l.open(name)
			if err != nil {
				return err
			}
			defer file.Close()
			return printLines(ctx, w, file, size, q)
		}
	}
	const form = "2006-01-02 15:04:05 UTC"
	args := []string{"--utc", "--no-pager", "--output=short-precise", "--unit=" + service}
	if !q.since.IsZero() {
		args = append(args, "--since="+q.since.UTC().Format(form))
	}
	if !q.until.IsZero() {
		args = append(args, "--until="+q.until.UTC().Format(form))
	}
	if q.lines >= 0 {
		args = append(args, "--lines="+strconv.Itoa(q.lines))
	}
	if q.pattern != nil {
		args = append(args, "--grep="+q.pattern.String())
	}
	if q.boot != nil {
		args = append(args, "--boot="+strconv.Itoa(*q.boot))
	}
	journal := exec.CommandContext(ctx, l.Journal, args...)
	journal.Stdout = w
	var trouble strings.Builder
	journal.Stderr = &trouble
	if err := journal.Run(); err != nil {
		return fmt.Errorf("%w %s", err, strings.TrimSpace(trouble.String()))
	}
	return nil
}

// open opens a log file, and returns its size.
func (l *NodeLogs) open(name string) (*os.File, int64, error) {
	root, err := os.OpenRoot(l.Dir)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	file, err := logDir{root}.find(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: errNoFile}
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// printLines copies the lines that a query asks for from the first size bytes of a log file, until
// ctx ends. Lines of files have no times that are known, so sinceTime and untilTime do not apply.
// Lines may be of any length: binary files are one, too.
func printLines(ctx context.Context, w io.Writer, file io.ReaderAt, size int64, q *logQuery) error {
	switch {
	case q.pattern != nil:
		return printMatches(ctx, w, file, size, q)
	case q.lines < 0:
		return printSpan(ctx, w, file, span{0, size})
	}
	start, err := lastLines(ctx, file, size, q.lines)
	if err != nil {
		return err
	}
	return printSpan(ctx, w, file, span{start, size})
}

// span is a part of a file, from an offset up to another one.
type span struct{ from, to int64 }

func printSpan(ctx context.Context, w io.Writer, file io.ReaderAt, s span) error {
	from := &endingReader{ctx, io.NewSectionReader(file, s.from, s.to-s.from)}
	_, err := io.Copy(w, io.LimitReader(from, s.to-s.from)) // whose buffer is no larger than a short line
	return err
}

// endingReader fails once ctx has ended.
type endingReader struct {
	ctx context.Context
	io.Reader
}

func (r *endingReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// lastLines returns the offset at which the last n lines of a file begin.
func lastLines(ctx context.Context, file io.ReaderAt, size int64, n int) (int64, error) {
	if n == 0 {
		return size, nil
	}
	block := make([]byte, logBlock)
	end := size - 1 // a newline there ends the last line
	for end > 0 {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		start := max(0, end-logBlock)
		read, err := file.ReadAt(block[:end-start], start)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		for at := bytes.LastIndexByte(block[:read], '\n'); at >= 0; at = bytes.LastIndexByte(block[:at], '\n') {
			if n--; n == 0 {
				return start + int64(at) + 1, nil
			}
		}
		end = start
	}
	return 0, nil
}

// printMatches copies the lines that match the pattern of a query. It keeps the places of the last
// ones, not their texts.
func printMatches(ctx context.Context, w io.Writer, file io.ReaderAt, size int64, q *logQuery) error {
	in := bufio.NewReaderSize(&endingReader{ctx, io.NewSectionReader(file, 0, size)}, logBlock)
	var last []span // a ring, once it has q.lines
	matches := 0
	var line span
	var found, end bool
	for first := true; !end; {
		piece, err := in.ReadSlice('\n')
		more := errors.Is(err, bufio.ErrBufferFull)
		end = errors.Is(err, io.EOF)
		if err != nil && !more && !end {
			return err
		}
		if first {
			line.from, found = line.to, len(piece) > 0 && q.pattern.Match(piece)
		}
		line.to += int64(len(piece))
		first = !more
		switch {
		case !found:
		case q.lines < 0:
			if _, err := w.Write(piece); err != nil {
				return err
			}
		case more || q.lines == 0:
		case len(last) < q.lines:
			last = append(last, line)
			matches++
		default:
			last[matches%q.lines] = line
			matches++
		}
	}
	for i := range last {
		if err := printSpan(ctx, w, file, last[(matches+i)%len(last)]); err != nil {
			return err
		}
	}
	return nil
}
