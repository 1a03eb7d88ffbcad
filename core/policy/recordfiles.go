package policy

import (
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/spec"
)

// keep has the files of a set on the disk before the set judges: records name
// them by digest. A disk that does not take them is no reason to do without the
// set.
func (l *loader) keep(r *bundle.Bundle, s *eval.Set) {
	if l.cfg.Records == nil {
		return
	}
	files := map[string][]byte{}
	for _, p := range s.Policies {
		if p.Mode == spec.ModeOff {
			continue
		}
		for _, path := range []string{p.Path, p.Module} {
			if f, ok := r.Files[path]; ok {
				files[f.Sum] = f.Data
			}
		}
	}
	if err := l.cfg.Records.KeepFiles(l.tenant, files); err != nil {
		l.cfg.Logger.Error("the files of these policies are not kept with the decisions they make, which cannot be repeated without them", "directory", r.Dir, "err", err)
	}
}
