package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
)

// tracer stands between agents and the runtime, and notes when which call was
// made. It is for finding out where time goes: all figures are worse with it.
type tracer struct {
	conn   *grpc.ClientConn
	server *grpc.Server
	dir    string
	served chan error

	mu   sync.Mutex
	out  io.Writer
	from time.Time
}

// startTracer begins to serve on a socket of its own. Its goroutine, and those
// of calls, end with stop.
func startTracer(conn *grpc.ClientConn, out io.Writer) (*tracer, error) {
	dir, err := os.MkdirTemp("", "wardlet-trace-")
	if err != nil {
		return nil, err
	}
	t := &tracer{conn: conn, dir: dir, served: make(chan error, 1), out: out, from: time.Now()}
	listener, err := net.Listen("unix", t.socket())
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	t.server = grpc.NewServer(grpc.ForceServerCodecV2(raw{}), grpc.UnknownServiceHandler(t.pass), grpc.WaitForHandlers(true))
	go func() { t.served <- t.server.Serve(listener) }()
	return t, nil
}

func (t *tracer) socket() string   { return filepath.Join(t.dir, "cri.sock") }
func (t *tracer) endpoint() string { return "unix://" + t.socket() }

func (t *tracer) stop() error {
	t.server.Stop()
	return errors.Join(<-t.served, os.RemoveAll(t.dir))
}

// mark begins a measurement: what follows is noted with the time since then. A
// tracer that is nil notes nothing.
func (t *tracer) mark(what string, began time.Time) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.from = began
	fmt.Fprintf(t.out, "--- %s\n", what)
}

func (t *tracer) note(method string, began time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, "%9.1f ms %7.1f ms %s", milliseconds(began.Sub(t.from)), milliseconds(time.Since(began)),
		method[strings.LastIndexByte(method, '/')+1:])
	if err != nil {
		fmt.Fprintf(t.out, " %v", err)
	}
	fmt.Fprintln(t.out)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// pass passes one call on: all of them have one request, and some a stream of
// answers.
func (t *tracer) pass(_ any, in grpc.ServerStream) (err error) {
	method, _ := grpc.MethodFromServerStream(in)
	began := time.Now()
	defer func() { t.note(method, began, err) }()
	ctx, cancel := context.WithCancel(in.Context())
	defer cancel()
	out, err := t.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method, grpc.ForceCodecV2(raw{}))
	if err != nil {
		return err
	}
	var message frame
	if err := in.RecvMsg(&message); err != nil {
		return err
	}
	if err := out.SendMsg(&message); err != nil {
		return err
	}
	if err := out.CloseSend(); err != nil {
		return err
	}
	for {
		err := out.RecvMsg(&message)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := in.SendMsg(&message); err != nil {
			return err
		}
	}
}

// frame is a message as it is on the wire.
type frame struct{ bytes []byte }

// raw is the codec of frames.
type raw struct{}

// Name is that of the codec of those who call and answer.
func (raw) Name() string { return "proto" }

// Marshal returns a frame's bytes.
func (raw) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*frame)
	if !ok {
		return nil, fmt.Errorf("%T is no frame", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(f.bytes)}, nil
}

// Unmarshal takes a frame's bytes.
func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	f, ok := v.(*frame)
	if !ok {
		return fmt.Errorf("%T is no frame", v)
	}
	f.bytes = data.Materialize()
	return nil
}
