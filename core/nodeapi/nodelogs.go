package nodeapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
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
	http.StripPrefix("/logs/", http.FileServerFS(root.FS())).ServeHTTP(w, req)
}

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
	ctx, cancel := context.WithTimeout(req.Context(), queryTimeout)
	defer cancel()
	if q.file != "" {
		if err := l.printFile(w, q, q.file); err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
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
			return l.printFile(w, q, name)
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

// printFile prints the lines of a log file. Lines of files have no times that are known, so sinceTime
// and untilTime do not apply.
func (l *NodeLogs) printFile(w io.Writer, q *logQuery, name string) error {
	root, err := os.OpenRoot(l.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	file, err := root.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", name)
	}
	return printLines(w, file, q)
}

// printLines copies the lines that a query asks for.
func printLines(w io.Writer, r io.Reader, q *logQuery) error {
	var kept []string
	for in := bufio.NewReader(r); ; {
		line, err := in.ReadString('\n')
		if line == "" && errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if q.pattern != nil && !q.pattern.MatchString(line) {
			continue
		}
		if q.lines < 0 {
			if _, err := io.WriteString(w, line); err != nil {
				return err
			}
			continue
		}
		if kept = append(kept, line); len(kept) > q.lines {
			kept = slices.Delete(kept, 0, 1)
		}
	}
	for _, line := range kept {
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}
