package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/wardlet/wardlet/test/bench/policies/guest"
)

// agentCache is the directory in which the agent's engine keeps compiled code, bareCache that of
// plain wazero.
func (r *run) agentCache() string { return filepath.Join(r.dir, "agent") }
func (r *run) bareCache() string  { return filepath.Join(r.dir, "bare") }

// dropStale removes the code that plain wazero compiled of other guests than the current ones:
// nothing else removes it. The agent's cache has a limit of its own.
func (r *run) dropStale() error {
	all := sha256.New()
	for _, g := range guest.All() {
		binary, err := g.Read(r.dir)
		if err != nil {
			return err
		}
		one := sha256.Sum256(binary)
		_, _ = all.Write(one[:]) // never fails
	}
	digest := hex.AppendEncode(nil, all.Sum(nil))
	mark := filepath.Join(r.bareCache(), "guests")
	if known, err := os.ReadFile(mark); err == nil && bytes.Equal(known, digest) {
		return nil
	}
	if err := os.RemoveAll(r.bareCache()); err != nil {
		return err
	}
	if err := os.MkdirAll(r.bareCache(), 0o755); err != nil {
		return err
	}
	return os.WriteFile(mark, digest, 0o644)
}
