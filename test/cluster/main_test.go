//go:build e2e

package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/wardlet/wardlet/test/cluster/controlplane"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var common struct {
	once  sync.Once
	plane *controlplane.Cluster
	err   error
}

// shared returns the server of the tests that do not disturb it.
func shared(t *testing.T) *controlplane.Cluster {
	t.Helper()
	common.once.Do(func() { common.plane, common.err = controlplane.Start(t.Context(), programs(), nil) })
	if common.err != nil {
		t.Fatal(common.err)
	}
	return common.plane
}

func stopShared() error {
	if common.plane == nil {
		return nil
	}
	return common.plane.Stop()
}

// own starts a server for the test alone.
func own(t *testing.T, tokens map[string]controlplane.User, flags ...string) *controlplane.Cluster {
	t.Helper()
	plane, err := controlplane.Start(t.Context(), programs(), tokens, flags...)
	must(t, err)
	t.Cleanup(func() { must(t, plane.Stop()) })
	return plane
}

func programs() string {
	path, err := filepath.Abs("../../build/tools")
	if err != nil {
		panic(err)
	}
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
