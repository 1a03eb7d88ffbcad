package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/wardlet/wardlet/core/internal/crashpoint"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/decisionlog"
	"github.com/wardlet/wardlet/core/state"
)

// keep writes the files of a reading to a directory, so that it is whole or not
// there. What is there and damaged is replaced. A file that another kept set has,
// too, is not written once more.
func (k *kept) keep(dir string, r *bundle.Bundle) error {
	if _, err := os.Stat(dir); err == nil && k.read(dir).Digest() == r.Digest() {
		return nil
	}
	part := dir + newSuffix
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	written := 0
	defer func() { k.pay(written) }()
	linked := map[string]bool{}
	for path, f := range r.Files {
		below := filepath.Join(part, filepath.Dir(path))
		if err := os.MkdirAll(below, 0o700); err != nil {
			return err
		}
		if k.link(filepath.Dir(dir), path, part, f.Data) {
			linked[below] = true
			continue
		}
		written += len(f.Data)
		if err := state.WriteFile(below, filepath.Base(path), f.Data); err != nil {
			return err
		}
	}
	for below := range linked {
		if err := syncDir(below); err != nil {
			return err
		}
	}
	crashpoint.Reached("set content written")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Rename(part, dir); err != nil {
		return err
	}
	crashpoint.Reached("set content kept")
	return syncDir(filepath.Dir(dir))
}

// link makes the file at a path of a set that is kept in all one of the set that is
// being kept in part, if it holds what it should: it may be damaged.
func (k *kept) link(all, path, part string, data []byte) bool {
	for _, digest := range k.record.Good {
		from := filepath.Join(all, digest, path)
		info, err := os.Lstat(from)
		if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(data)) {
			continue
		}
		k.cfg.loads.pay(info.Size() * bundle.ReadByteFuel)
		if has, err := os.ReadFile(from); err == nil && bytes.Equal(has, data) && os.Link(from, filepath.Join(part, path)) == nil {
			return true
		}
	}
	return false
}

// pay takes what the owner has written to the disk, as recordByteFuel says. What is
// written of it for records is in it: that is the same, and compressed.
func (k *kept) pay(bytes int) { k.cfg.loads.pay(int64(bytes) * decisionlog.RecordByteFuel) }

// store keeps what is known of the sets.
func (k *kept) store() {
	if k.cfg.Kept == nil {
		return
	}
	if text, err := json.Marshal(&k.record); err == nil {
		k.pay(len(text))
	}
	if err := k.cfg.Kept.Store(&k.record); err != nil {
		k.cfg.Logger.Error("what is known of the policies is not kept over a restart", "owner", k.owner(), "err", err)
	}
}

// syncDir puts the entries of a directory on the disk.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
