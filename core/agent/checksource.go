package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/source/file"
)

// sourcePatience bounds the reading of one source; files that are being
// written are waited for a second.
const sourcePatience = 10 * time.Second

// checkSource reads a source as the agent would, once.
func checkSource(ctx context.Context, s *config.Source, node string) Finding {
	subject := "source " + s.Name
	ctx, cancel := context.WithTimeout(ctx, sourcePatience)
	defer cancel()
	first := &firstReading{done: cancel, err: fmt.Errorf("%s was not read within %s; is its file system there?", s.Path, sourcePatience)}
	err := file.New(file.Config{
		Name: s.Name, Path: s.Path, NodeName: node, Sink: first,
		MissingEmpty: s.MissingPath == config.MissingEmpty,
	}).Run(ctx)
	if err = errors.Join(err, first.err); err != nil {
		return Finding{LevelFail, subject, err.Error()}
	}
	manifests, faults := faultsOf(first.documents)
	message := fmt.Sprintf("%s, %d bad", count(manifests, "manifest", "manifests"), len(faults))
	if len(faults) > 0 {
		return Finding{LevelFail, subject, message + "\n" + strings.Join(faults, "\n")}
	}
	return Finding{LevelOK, subject, message}
}

// firstReading is a sink that takes one reading.
type firstReading struct {
	documents []pod.Document
	// err says why there is none.
	err  error
	done context.CancelFunc
}

// Replace takes the reading.
func (f *firstReading) Replace(_ context.Context, all []pod.Document) error {
	f.documents, f.err = all, nil
	f.done()
	return nil
}

// Apply comes after the first reading and is none of this sink's business.
func (f *firstReading) Apply(context.Context, []pod.Document, []string) error { return nil }

// Health takes the first error instead of a reading.
func (f *firstReading) Health(err error) {
	if err != nil && f.documents == nil {
		f.err = err
		f.done()
	}
}

// faultsOf counts the manifests of a source and says what is wrong with those
// that cannot be used. That a file is held because of one of them goes without
// saying.
func faultsOf(documents []pod.Document) (manifests int, faults []string) {
	named := map[string]bool{}
	for _, d := range documents {
		if d.Err != nil && !holds(&d) {
			named[d.Err.File] = true
		}
	}
	chosen := map[types.NamespacedName]string{}
	for _, d := range documents {
		switch {
		case d.Err != nil && holds(&d) && named[d.Err.File]:
			continue
		case d.Err != nil:
			faults = append(faults, d.Err.Error())
		default:
			id := pod.Identity(d.Pod)
			if first, twice := chosen[id]; twice {
				faults = append(faults, fmt.Sprintf("%s: %s is already defined by %s; remove or rename one of them", d.ID, id, first))
			} else {
				chosen[id] = d.ID
			}
		}
		manifests++
	}
	return manifests, faults
}

func holds(d *pod.Document) bool { return strings.HasSuffix(d.ID, pod.HoldSuffix) }
