package nodeapi

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/logs"
	"github.com/wardlet/wardlet/core/pod"
)

// logRequest selects a log, and a part of it.
type logRequest struct {
	logs.Options
	previous bool
	stream   string
}

// logOptions parses the query of a request for a log. code is the HTTP status for an invalid one.
func logOptions(query url.Values, now time.Time) (o logRequest, code int, err error) {
	o.Tail, o.Limit = -1, -1
	var errs []error
	flag := func(name string) bool {
		text := query.Get(name)
		if text == "" {
			return query.Has(name)
		}
		b, err := strconv.ParseBool(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: want true or false, found %q", name, text))
		}
		return b
	}
	number := func(name string) (int64, bool) {
		text := query.Get(name)
		if text == "" {
			return 0, false
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: want a number, found %q", name, text))
		}
		return n, err == nil
	}
	o.Follow, o.previous, o.Timestamps = flag("follow"), flag("previous"), flag("timestamps")
	var wrong error
	if tail := query.Get("tail"); tail != "" { // its name before PodLogOptions
		query = maps.Clone(query)
		if query.Set("tailLines", tail); tail == "all" {
			query.Del("tailLines")
		}
	}
	if n, ok := number("tailLines"); ok {
		if o.Tail = n; n < 0 {
			wrong = errors.New("tailLines: must be greater than or equal to 0")
		}
	}
	if n, ok := number("limitBytes"); ok {
		if o.Limit = n; n < 1 {
			wrong = errors.New("limitBytes: must be greater than 0")
		}
	}
	seconds, hasSeconds := number("sinceSeconds")
	if hasSeconds {
		if o.Since = now.Add(-time.Duration(min(seconds, int64(time.Hour*24*365*100/time.Second))) * time.Second); seconds < 1 {
			wrong = errors.New("sinceSeconds: must be greater than 0")
		}
	}
	if text := query.Get("sinceTime"); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			errs = append(errs, fmt.Errorf("sinceTime: want a time as of RFC 3339, found %q", text))
		}
		if o.Since = at; hasSeconds {
			wrong = errors.New("at most one of sinceTime or sinceSeconds may be specified")
		}
	}
	o.stream = query.Get("stream")
	if !slices.Contains([]string{"", v1.LogStreamAll, v1.LogStreamStdout, v1.LogStreamStderr}, o.stream) {
		wrong = fmt.Errorf("stream: want All, Stdout or Stderr, found %q", o.stream)
	}
	if o.Tail >= 0 && (o.stream == v1.LogStreamStdout || o.stream == v1.LogStreamStderr) {
		wrong = errors.New("tailLines and specific stream are mutually exclusive for now")
	}
	switch {
	case len(errs) > 0:
		return o, http.StatusBadRequest, errors.Join(errs...)
	case wrong != nil:
		return o, http.StatusUnprocessableEntity, wrong
	}
	return o, 0, nil
}

// output returns w for the streams that are requested.
func (o *logRequest) output(w io.Writer) logs.Output {
	out := logs.Output{Stdout: w, Stderr: w}
	if o.stream == v1.LogStreamStdout {
		out.Stderr = nil
	}
	if o.stream == v1.LogStreamStderr {
		out.Stdout = nil
	}
	return out
}

func hasContainer(p *v1.Pod, name string) bool {
	c, _ := pod.Container(p, name)
	return c != nil
}

// logContainer returns the ID of the container whose log is requested: the previous one, or the one
// that runs, else the last one.
func logContainer(p *v1.Pod, name string, previous bool) (string, error) {
	st := pod.ContainerStatus(&p.Status, name)
	if st == nil {
		return "", fmt.Errorf("container %q in pod %q is not available", name, p.Name)
	}
	last := ""
	if t := st.LastTerminationState.Terminated; t != nil {
		last = t.ContainerID
	}
	switch waiting, ended := st.State.Waiting, st.State.Terminated; {
	case previous && last == "":
		return "", fmt.Errorf("previous terminated container %q in pod %q not found", name, p.Name)
	case previous:
		return bareID(last), nil
	case st.State.Running != nil:
		return bareID(st.ContainerID), nil
	case ended != nil && ended.ContainerID != "":
		return bareID(ended.ContainerID), nil
	case last != "":
		return bareID(last), nil
	case waiting != nil && waiting.Reason == "ErrImagePull":
		return "", fmt.Errorf("container %q in pod %q is waiting to start: image can't be pulled", name, p.Name)
	case waiting != nil && waiting.Reason == "ImagePullBackOff":
		return "", fmt.Errorf("container %q in pod %q is waiting to start: trying and failing to pull image", name, p.Name)
	case waiting != nil:
		return "", fmt.Errorf("container %q in pod %q is waiting to start: %s", name, p.Name, waiting.Reason)
	}
	return "", fmt.Errorf("container %q in pod %q is waiting to start - no logs yet", name, p.Name)
}
