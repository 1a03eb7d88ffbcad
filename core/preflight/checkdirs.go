package preflight

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
)

// checkDirectories reports whether the directories of pods and their logs were removed after an
// agent had created them, and whether the directory of logs can be created. An agent creates both
// again, but running pods lose the content. runs means that an agent is running.
func checkDirectories(cfg *config.Config, runs bool) (findings []Finding) {
	layout := parts.Layout(cfg)
	pods, logs := layout.PodsDir(), filepath.Join(cfg.Paths.LogRoot, "pods")
	known := isThere(filepath.Join(cfg.Paths.StateRoot, "installation.json"))
	removed := (known || runs || isThere(layout.IdentityDir())) && !isThere(pods)
	if removed {
		findings = append(findings, Finding{LevelWarn, "pod_root " + cfg.Paths.PodRoot, pods +
			" is not there, though an agent has been here; it is made again with the next pod. What pods that run keep in volumes there is lost: start them anew"})
	}
	if known && !isThere(layout.IdentityDir()) {
		findings = append(findings, Finding{LevelWarn, "pod_root " + cfg.Paths.PodRoot, layout.IdentityDir() +
			" is not there, though an agent has been here; if the state is lost now, what runs is taken for another's: start the agent again, which makes it"})
	}
	entries, _ := os.ReadDir(pods) // a missing directory is already reported
	err := podsDirFault(logs)
	switch {
	case err != nil:
		findings = append(findings, Finding{LevelFail, "log_root " + cfg.Paths.LogRoot, err.Error() + ": the agent cannot make the directory of the logs"})
	case !isThere(logs) && (removed || len(entries) > 0):
		why := ", though there are pods"
		if removed {
			why = " either"
		}
		findings = append(findings, Finding{LevelWarn, "log_root " + cfg.Paths.LogRoot, logs +
			" is not there" + why + "; it is made again with the next pod. What containers that run write is lost until they start again"})
	}
	return findings
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
