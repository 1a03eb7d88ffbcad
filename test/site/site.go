// Package site is a configuration of an agent in a directory of a test's own.
//
// Comes in: a test. Goes out: a configuration, and files where it says. It owns no
// goroutine.
package site

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wardlet/wardlet/core/config"
)

// GoodPod is a manifest that is valid.
const GoodPod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: box}]}\n"

// Site is a configuration whose paths lie in a directory of the test's own.
type Site struct {
	Dir string
	Cfg *config.Config
}

// New makes a site whose paths are missing yet.
func New(t *testing.T) *Site {
	t.Helper()
	dir, err := os.MkdirTemp("", "wardlet") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	n := &Site{Dir: dir, Cfg: config.Default()}
	n.Cfg.NodeName = "edge"
	n.Cfg.Paths.StateRoot, n.Cfg.Paths.PodRoot = n.Path("state"), n.Path("root")
	n.Cfg.Paths.Socket = n.Path("run/w.sock")
	n.Cfg.Paths.CgroupRoot = "/" + filepath.Base(dir)
	n.Cfg.Runtime.Endpoint = "unix://" + n.Path("cri.sock")
	return n
}

// Path is below the site's directory.
func (n *Site) Path(name string) string { return filepath.Join(n.Dir, name) }

// Source adds a source whose directory holds files, by name and text.
func (n *Site) Source(t *testing.T, name string, files map[string]string) *config.Source {
	t.Helper()
	n.Cfg.Sources = append(n.Cfg.Sources, config.Source{
		Name: name, Kind: config.KindFile, Path: n.Path(name), Period: config.DefaultPeriod, MissingPath: config.MissingError,
	})
	s := &n.Cfg.Sources[len(n.Cfg.Sources)-1]
	for file, text := range files {
		n.Write(t, filepath.Join(name, file), text)
	}
	return s
}

// Write writes a file below the site's directory.
func (n *Site) Write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(n.Path(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(n.Path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
