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

// sourceTimeout is how long the reading of one source may take: for a server
// also what the source itself allows.
func sourceTimeout(s *config.Source, timeout time.Duration) time.Duration {
	if s.Kind == config.KindFile {
		return timeout
	}
	return timeout + s.Timeout
}

// checkSource reads a source as the agent would, once.
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

// firstReading is a sink that takes one reading, or the first error instead.
type firstReading struct {
	documents []api.Document
	// err says why there is none.
	err error
	// ignored is what lies beside the documents and is not read, nil for nothing.
	ignored *api.Ignored
	// taken is true once there is one.
	taken bool
	done  context.CancelFunc
}

// Replace takes a snapshot.
func (f *firstReading) Replace(_ context.Context, all []api.Document) error {
	f.take(all, nil)
	return nil
}

// Apply takes an answer that is none, because its documents are bad.
func (f *firstReading) Apply(_ context.Context, changed []api.Document, _ []string) error {
	f.take(changed, nil)
	return nil
}

// Health takes an error.
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

// faultsOf counts the manifests of a source and those that cannot be used, and says what
// is wrong with them, a line for each fault. That a file is held because of one of them goes without
// saying.
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

// identityOf is what no two documents may be: a pod, or an object of a kind.
func identityOf(d *api.Document) string {
	object, ok := d.Object.(runtime.Object)
	if !ok {
		return pod.Identity(d.Pod).String()
	}
	return strings.TrimSuffix(object.GetObjectKind().GroupVersionKind().Kind+" "+d.Object.GetNamespace()+"/"+d.Object.GetName(), "/")
}
