package clusterset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/core/state/durable"
)

// setPrefix is the begin of the names of directories of sets.
const setPrefix = "set-"

// maxFiles is how many keys a ConfigMap may have, and maxName how many bytes the name of one has.
// Users who may write the ConfigMap must not be able to fill the disk of the node.
const (
	maxFiles = 512
	maxName  = 200
)

// Config is the configuration of a Set.
type Config struct {
	Client *kube.Client
	// Namespace and Name are those of the ConfigMap.
	Namespace, Name string
	// Dir is the directory of the set, absolute: a link, which another set replaces. The directory above
	// it is for this package's own use.
	Dir string
	// Changed is called when another set is in the directory.
	Changed func(ctx context.Context)
	Logger  *slog.Logger
}

// Set is the set of policies of a ConfigMap.
type Set struct {
	cfg Config
	// told is the last fault in the log.
	told string
}

// New returns a Set that does nothing before Run.
func New(cfg Config) *Set { return &Set{cfg: cfg} }

// Run follows the ConfigMap until ctx is done.
func (s *Set) Run(ctx context.Context) {
	s.cfg.Client.Follow(ctx, &kube.Selection{
		GroupVersion: v1.SchemeGroupVersion, Resource: "configmaps", Namespace: s.cfg.Namespace,
		FieldSelector: fields.OneTermEqualSelector("metadata.name", s.cfg.Name).String(),
		Object:        &v1.ConfigMap{}, List: &v1.ConfigMapList{},
		Good: func() {},
		Bad: func(err error) {
			s.cfg.Logger.Debug("the ConfigMap of the policies cannot be followed", "err", err)
		},
	}, &store{s, ctx})
}

// take writes the files of a ConfigMap, nil if there is none.
func (s *Set) take(ctx context.Context, c *v1.ConfigMap) {
	changed, err := s.write(ctx, c)
	if err != nil {
		err = fmt.Errorf("ConfigMap %s/%s: %w", s.cfg.Namespace, s.cfg.Name, err)
		if text := err.Error(); s.told != text {
			s.told = text
			s.cfg.Logger.Error("the policies of the cluster are not taken; the last ones stay", "err", err)
		}
		return
	}
	s.told = ""
	if changed {
		s.cfg.Logger.Info("the cluster has other policies", "configmap", s.cfg.Namespace+"/"+s.cfg.Name, "resourceVersion", c.ResourceVersion)
		s.cfg.Changed(ctx)
	}
}

var errMissing = errors.New("it does not exist; to have no policies, put a signed set without documents there")

// write makes the directory of a set, and reports whether it is another one.
func (s *Set) write(ctx context.Context, c *v1.ConfigMap) (changed bool, err error) {
	if c == nil {
		return false, errMissing
	}
	files := map[string][]byte{}
	maps.Copy(files, c.BinaryData)
	for name, text := range c.Data {
		files[name] = []byte(text)
	}
	if len(files) > maxFiles {
		return false, fmt.Errorf("it has %d keys; a set has at most %d files", len(files), maxFiles)
	}
	for file := range files {
		if len(file) > maxName || strings.ContainsRune(file, filepath.Separator) {
			return false, fmt.Errorf("the key %q cannot be the name of a file: want at most %d characters and no directories", file, maxName)
		}
	}
	name := setPrefix + digest(files)
	if target, err := os.Readlink(s.cfg.Dir); err == nil && target == name {
		return false, nil
	}
	dir := filepath.Join(s.root(), name)
	// A power cut may have left a part of it.
	if err := os.RemoveAll(dir); err != nil {
		return false, err
	}
	if err := writeFiles(ctx, dir, files); err != nil {
		return false, errors.Join(err, os.RemoveAll(dir))
	}
	if err := durable.Link(name, s.cfg.Dir); err != nil {
		return false, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.removeOthers(name); err != nil {
		s.cfg.Logger.Warn("directories of earlier policies are not removed", "err", err)
	}
	return true, nil
}

func writeFiles(ctx context.Context, dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if err := errors.Join(ctx.Err(), durable.WriteFile(dir, file, files[file])); err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) root() string { return filepath.Dir(s.cfg.Dir) }

// removeOthers removes the directories of earlier sets.
func (s *Set) removeOthers(name string) error {
	entries, err := os.ReadDir(s.root())
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), setPrefix) && entry.Name() != name {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.root(), entry.Name())))
		}
	}
	return err
}

// digest identifies the content of a set.
func digest(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		one := sha256.Sum256(files[name])
		fmt.Fprintf(sum, "%q %x\n", name, one)
	}
	return hex.EncodeToString(sum.Sum(nil))[:32]
}

// store receives the ConfigMap from kube.Client.Follow.
type store struct {
	set *Set
	ctx context.Context //nolint:containedctx // that of Run, which Follow does not pass on
}

// Replace receives a list: the ConfigMap, or none.
func (s *store) Replace(list []any, _ string) error {
	if len(list) == 0 {
		return s.Delete(nil)
	}
	return s.Update(list[0])
}

// Add receives a new ConfigMap.
func (s *store) Add(item any) error { return s.Update(item) }

// Update receives a new version.
func (s *store) Update(item any) error {
	s.set.take(s.ctx, item.(*v1.ConfigMap))
	return nil
}

// Delete reports that the ConfigMap is gone.
func (s *store) Delete(any) error {
	s.set.take(s.ctx, nil)
	return nil
}

// Resync implements kube.Store and does nothing.
func (s *store) Resync() error { return nil }
