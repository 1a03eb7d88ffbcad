// Package fakestream is a runtime's server of streams, which runs functions in place of programs and of what listens in pods.
//
// Comes in: requests for a program or a connection, upgraded to SPDY as clients of Kubernetes do. Goes out: what the function writes, and
// how it ends. A handler's goroutines end with its request.
package fakestream

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// Streams are those that the client has asked for; the others are nil.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Sizes are those of the terminal.
	Sizes *json.Decoder
	// Gone is closed when the client is.
	Gone <-chan bool
}

// Program is what runs. Its error is one of the runtime, which could not run it.
type Program func(command []string, s *Streams) (status int, err error)

// streamsTimeout is how long a client may take to open its streams.
const streamsTimeout = 10 * time.Second

// ServeHTTP implements http.Handler. The query names the command and the streams as ExecURL of core/runtime gets them.
func (p Program) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if _, err := httpstream.Handshake(req, w, []string{remotecommand.StreamProtocolV4Name}); err != nil {
		return
	}
	type open struct {
		httpstream.Stream
		replied <-chan struct{}
	}
	opened := make(chan open, 5)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(quiet{w}, req, func(stream httpstream.Stream, replied <-chan struct{}) error {
		opened <- open{stream, replied}
		return nil
	})
	if conn == nil {
		return
	}
	defer conn.Close()
	query := req.URL.Query()
	want := 1
	for _, name := range []string{"stdin", "stdout", "stderr", "tty"} {
		if query.Get(name) == "true" {
			want++
		}
	}
	s := &Streams{Gone: conn.CloseChan()}
	var errors io.Writer
	for late := time.After(streamsTimeout); want > 0; want-- {
		select {
		case stream := <-opened:
			<-stream.replied // what is sent before that is lost
			switch stream.Headers().Get(v1.StreamType) {
			case v1.StreamTypeError:
				errors = stream
			case v1.StreamTypeStdin:
				s.Stdin = stream
			case v1.StreamTypeStdout:
				s.Stdout = stream
			case v1.StreamTypeStderr:
				s.Stderr = stream
			case v1.StreamTypeResize:
				s.Sizes = json.NewDecoder(stream)
			}
		case <-late:
			return
		}
	}
	status, err := p(query["command"], s)
	if status < 0 || errors == nil {
		return
	}
	_ = json.NewEncoder(errors).Encode(ended(status, err)) // a client that is gone needs no answer
}

// BreaksOff is the status of a program whose connection ends before it has sent how the program ended.
const BreaksOff = -1

func ended(status int, err error) *metav1.Status {
	switch {
	case err != nil:
		return &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Message: "error executing command in container: " + err.Error()}
	case status == 0:
		return &metav1.Status{Status: metav1.StatusSuccess}
	}
	return &metav1.Status{
		Status: metav1.StatusFailure, Reason: remotecommand.NonZeroExitCodeReason,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: remotecommand.ExitCodeCauseType, Message: strconv.Itoa(status)}}},
	}
}

// quiet hands out a connection that may be closed twice: SPDY waits a second before it drops the error.
type quiet struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (q quiet) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rest, err := http.NewResponseController(q.ResponseWriter).Hijack()
	return quietConn{conn}, rest, err
}

type quietConn struct{ net.Conn }

// Close implements net.Conn.
func (q quietConn) Close() error {
	q.Conn.Close()
	return nil
}
