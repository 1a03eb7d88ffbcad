package preflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/source/file"
)

// checkObjects reads the directory of objects once, as the agent would, and reports how the Secrets
// of pods are stored.
func checkObjects(ctx context.Context, cfg *config.Config, timeout time.Duration) []Finding {
	var findings []Finding
	if dir := cfg.Objects.Dir; dir != "" {
		findings = append(findings, checkObjectDirectory(ctx, cfg, timeout))
	}
	if cfg.Objects.Dir != "" || cfg.Cluster.Kubeconfig != "" {
		findings = append(findings, checkObjectKey(cfg))
	}
	return findings
}

func checkObjectDirectory(ctx context.Context, cfg *config.Config, timeout time.Duration) Finding {
	subject := "objects " + cfg.Objects.Dir
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	first := &firstReading{done: cancel, err: fmt.Errorf("it was not read within %s; is its file system there?", timeout)}
	reading := parts.ObjectDirectory(cfg, first, nil)
	reading.Ignored = func(i *api.Ignored) { first.ignored = i }
	if err := errors.Join(file.New(reading).Run(ctx), first.err); err != nil {
		return Finding{LevelFail, subject, err.Error()}
	}
	documents, bad, faults := faultsOf(first.documents)
	message := fmt.Sprintf("%s, %d bad", count(documents, "object", "objects"), bad)
	if ignored := first.ignored.String(); ignored != "" {
		message += "; " + ignored
	}
	if bad > 0 {
		return Finding{LevelFail, subject, message + "\n" + strings.Join(faults, "\n")}
	}
	return Finding{LevelOK, subject, message}
}

// checkObjectKey reports which key encrypts Secrets on the disk, and what it protects against.
func checkObjectKey(cfg *config.Config) Finding {
	at := parts.ObjectKey(cfg, os.LookupEnv).Place()
	subject := "key of Secrets on the disk " + at.Path
	switch _, err := at.Read(); {
	case at.Generated && (err == nil || errors.Is(err, fs.ErrNotExist)):
		return Finding{LevelOK, subject, "made by the agent, where its service has no credential wardlet.objects-key: it protects copies of the disk without it, not the disk"}
	case errors.Is(err, fs.ErrPermission):
		return Finding{LevelFail, subject, fmt.Sprintf("%v; check as the user the agent runs as", err)}
	case err != nil:
		return Finding{LevelFail, subject, err.Error()}
	}
	return Finding{LevelOK, subject, ""}
}
