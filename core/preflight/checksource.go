package preflight

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/pod"
)

// sourceTimeout returns the time limit for reading one source. For a server, it includes the
// source's own timeout.
func sourceTimeout(s *config.Source, timeout time.Duration) time.Duration {
	if s.Kind == config.KindFile {
		return timeout
	}
	return timeout + s.Timeout
}

// checkSource reads a source once, as the agent would.
func checkSource(ctx context.Context, cfg *config.Config, s *config.Source, node string, timeout time.Duration) Finding {
	subject := "source " + s.Name
	patience, doubt := sourceTimeout(s, timeout), "is its file system there?"
	if s.Kind != config.KindFile {
		doubt = "does the server answer this node?"
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	first := &firstReading{done: cancel, err: fmt.Errorf("%s was not read within %s; %s", s.Location(), patience, doubt)}
	if err := readOnce(ctx, cfg, s, node, first); err != nil {
		return Finding{LevelFail, subject, err.Error()}
	}
	documents, bad, faults := faultsOf(first.documents)
	message := fmt.Sprintf("%s, %d bad", count(documents, "manifest", "manifests"), bad)
	if s.Kind == config.KindAPI {
		message = fmt.Sprintf("%s, %d bad", count(documents, "pod", "pods"), bad)
	}
	if ignored := first.ignored.String(); ignored != "" {
		message += "; " + ignored
	}
	if bad > 0 {
		return Finding{LevelFail, subject, message + "\n" + strings.Join(faults, "\n")}
	}
	return Finding{LevelOK, subject, message}
}

// readOnce runs a source until first was called.
func readOnce(ctx context.Context, cfg *config.Config, s *config.Source, node string, first *firstReading) error {
	setting := parts.SourceSetting{Node: node, Namespaces: cfg.Namespaces(s), Sink: first, Ignored: func(i *api.Ignored) { first.ignored = i }}
	if s.Kind == config.KindAPI {
		client, err := parts.APIClient(cfg, nil)
		if err != nil {
			return err
		}
		defer client.Close()
		setting.API = client
	}
	run, err := parts.NewSource(s, setting)
	if err != nil {
		return err
	}
	return errors.Join(run.Run(ctx), first.err)
}

// firstReading is a sink that records the first reading, or the first error.
type firstReading struct {
	documents []api.Document
	// err is the error if there is no reading.
	err error
	// ignored has the entries beside the documents that are not read, nil for none.
	ignored *api.Ignored
	// taken is true after the first reading or error.
	taken bool
	done  context.CancelFunc
}

// Replace records a snapshot.
func (f *firstReading) Replace(_ context.Context, all []api.Document) error {
	f.take(all, nil)
	return nil
}

// Apply records an answer that is no snapshot because its documents are invalid.
func (f *firstReading) Apply(_ context.Context, changed []api.Document, _ []string) error {
	f.take(changed, nil)
	return nil
}

// Health records an error.
func (f *firstReading) Health(err error) {
	if err != nil {
		f.take(nil, err)
	}
}

func (f *firstReading) take(documents []api.Document, err error) {
	if !f.taken {
		f.documents, f.err, f.taken = documents, err, true
		f.done()
	}
}

// faultsOf counts the manifests of a source and the invalid ones, and returns a line for each
// fault. It leaves out that a file is held, if a fault in that file is listed.
func faultsOf(documents []api.Document) (manifests, bad int, faults []string) {
	named := map[string]bool{}
	for _, d := range documents {
		if d.Err != nil && !d.Holds() {
			named[d.Err.File] = true
		}
	}
	chosen := map[string]string{}
	for _, d := range documents {
		switch {
		case d.Err != nil && d.Holds() && named[d.Err.File]:
			continue
		case d.Err != nil:
			bad++
			faults = append(faults, d.Err.Lines()...)
		default:
			id := identityOf(&d)
			if first, twice := chosen[id]; twice {
				bad++
				faults = append(faults, fmt.Sprintf("%s: %s is already defined by %s; remove or rename one of them", d.ID, id, first))
			} else {
				chosen[id] = d.ID
			}
		}
		manifests++
	}
	return manifests, bad, faults
}

// identityOf returns the identity that must be unique among documents: a pod, or an object of a
// kind.
func identityOf(d *api.Document) string {
	object, ok := d.Object.(runtime.Object)
	if !ok {
		return pod.Identity(d.Pod).String()
	}
	return strings.TrimSuffix(object.GetObjectKind().GroupVersionKind().Kind+" "+d.Object.GetNamespace()+"/"+d.Object.GetName(), "/")
}
