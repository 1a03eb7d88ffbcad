package fakecri

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Server is a runtime. Its state survives Stop and Serve, as containers
// survive a restart of containerd.
type Server struct {
	socket string

	mu           sync.Mutex
	now          func() time.Time
	grpc         *grpc.Server
	served       sync.WaitGroup
	sequence     int
	runtimeReady bool
	networkReady bool
	linux        *runtimeapi.CgroupDriver
	podCIDR      string
	sandboxes    map[string]*sandbox
	containers   map[string]*container
	present      map[string]*image // by ID
	published    map[string]*image // by name
	storeBytes   uint64
	storeDir     string
	calls        []Call
	hooks        map[string][]Hook
	stats        map[string]*runtimeapi.ContainerStats       // by ID of the container
	sandboxStats map[string]*runtimeapi.LinuxPodSandboxStats // by ID of the sandbox
	listeners    []*listener
	muted        bool
}

// New makes a runtime that will listen on the unix socket at path.
func New(path string) *Server {
	return &Server{
		socket:       path,
		now:          time.Now,
		runtimeReady: true,
		networkReady: true,
		linux:        runtimeapi.CgroupDriver_CGROUPFS.Enum(),
		sandboxes:    map[string]*sandbox{},
		containers:   map[string]*container{},
		present:      map[string]*image{},
		published:    map[string]*image{},
		hooks:        map[string][]Hook{},
		stats:        map[string]*runtimeapi.ContainerStats{},
		sandboxStats: map[string]*runtimeapi.LinuxPodSandboxStats{},
	}
}

// Start serves a new runtime on a socket of its own until the test ends.
func Start(tb testing.TB) *Server {
	tb.Helper()
	dir, err := os.MkdirTemp("", "cri") //nolint:usetesting // its paths can be longer than a socket's may be
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := New(filepath.Join(dir, "s"))
	if err := s.Serve(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Stop)
	return s
}

// Endpoint returns the address of the runtime's socket, "unix:///path".
func (s *Server) Endpoint() string { return "unix://" + s.socket }

// Serve listens and answers until Stop. It may be called again after Stop.
func (s *Server) Serve() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grpc != nil {
		return errors.New("fakecri: serving already")
	}
	listener, err := net.Listen("unix", s.socket)
	if err != nil {
		return fmt.Errorf("fakecri: %w", err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(s.intercept), grpc.StreamInterceptor(s.interceptStream), grpc.WaitForHandlers(true), grpc.MaxRecvMsgSize(16<<20))
	runtimeapi.RegisterRuntimeServiceServer(server, runtimeService{Server: s})
	runtimeapi.RegisterImageServiceServer(server, imageService{Server: s})
	s.grpc = server
	for _, c := range s.containers {
		c.kept = false
	}
	s.served.Go(func() { _ = server.Serve(listener) })
	return nil
}

// Stop closes all connections, as the death of a runtime does, and waits for the
// calls that still run. It may be called twice.
func (s *Server) Stop() {
	s.mu.Lock()
	server := s.grpc
	s.grpc = nil
	s.mu.Unlock()
	if server != nil {
		server.Stop()
		s.served.Wait()
	}
}

// SetNow replaces the runtime's clock.
func (s *Server) SetNow(now func() time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// SetReady sets the runtime's two conditions; both are true at first.
func (s *Server) SetReady(runtime, network bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runtimeReady, s.networkReady = runtime, network
}

// SetCgroupDriver sets the cgroup driver that the runtime reports; with nil the
// runtime reports nothing about Linux. The initial driver is cgroupfs.
func (s *Server) SetCgroupDriver(driver *runtimeapi.CgroupDriver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.linux = driver
}

// PodCIDR returns the networks of pods that the runtime was told last.
func (s *Server) PodCIDR() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.podCIDR
}

// newID returns an ID in the format of containerd's IDs. The IDs are the same in every run.
func (s *Server) newID() string {
	s.sequence++
	sum := sha256.Sum256([]byte(strconv.Itoa(s.sequence)))
	return hex.EncodeToString(sum[:])
}
