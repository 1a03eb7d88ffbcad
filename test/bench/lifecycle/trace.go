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

// tracer is a proxy between agents and the runtime that records the time of each call, to find out
// where time is spent: all figures are worse with it.
type tracer struct {
	conn   *grpc.ClientConn
	server *grpc.Server
	dir    string
	served chan error

	mu   sync.Mutex
	out  io.Writer
	from time.Time
}

// startTracer starts to serve on its own socket. stop terminates its goroutine, and those of calls.
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

// mark begins a measurement: later calls are recorded with the time since began. A nil tracer
// records nothing.
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

// pass forwards one call: each call has one request, and some have a stream of answers.
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

// frame is an encoded message.
type frame struct{ bytes []byte }

// raw is the codec of frames.
type raw struct{}

// Name is the name of the codec that clients and servers use.
func (raw) Name() string { return "proto" }

// Marshal returns the bytes of a frame.
func (raw) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*frame)
	if !ok {
		return nil, fmt.Errorf("%T is no frame", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(f.bytes)}, nil
}

// Unmarshal stores the bytes in a frame.
func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	f, ok := v.(*frame)
	if !ok {
		return fmt.Errorf("%T is no frame", v)
	}
	f.bytes = data.Materialize()
	return nil
}
