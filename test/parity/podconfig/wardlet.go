package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// wardletSide is our mux.
type wardletSide struct {
	mux   *mux.Mux
	sink  *mux.Sink
	first []api.Document
	// one is the difference that is sent.
	one   []api.Document
	stop  func()
	names []string
}

func newWardlet(pods []*v1.Pod, disk mux.Documents) (*wardletSide, error) {
	m := mux.New(mux.Config{
		Sources: []mux.Source{
			{Name: "file", Kind: "file"},
			{Name: "http", Kind: "http"},
			{Name: pod.SourceAPI, Kind: "api"},
		},
		Documents: disk, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	w := &wardletSide{mux: m, one: make([]api.Document, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = m.Run(ctx)
	}()
	w.stop = func() { cancel(); <-ended }
	var err error
	if w.sink, err = m.Sink(pod.SourceAPI); err != nil {
		return w, err
	}
	for _, p := range pods {
		id := p.Namespace + "/" + p.Name
		w.names = append(w.names, id)
		w.first = append(w.first, api.Document{Source: pod.SourceAPI, ID: id, Version: p.ResourceVersion, Pod: p})
	}
	return w, nil
}

func (w *wardletSide) begin() ([]*v1.Pod, error) {
	if err := w.sink.Replace(context.Background(), w.first); err != nil {
		return nil, err
	}
	// The source keeps the versions; the mux keeps the pods.
	w.first = nil
	u := <-w.mux.Updates()
	pods := make([]*v1.Pod, 0, len(u.Changes))
	for i := range u.Changes {
		if u.Changes[i].Op != api.Add {
			return nil, fmt.Errorf("the mux said %s, want ADD", u.Changes[i].Op)
		}
		pods = append(pods, u.Changes[i].New)
	}
	return pods, nil
}

func (w *wardletSide) change(i int, p *v1.Pod) (*v1.Pod, error) {
	w.one[0] = api.Document{Source: pod.SourceAPI, ID: w.names[i], Version: p.ResourceVersion, Pod: p}
	if err := w.sink.Apply(context.Background(), w.one, nil); err != nil {
		return nil, err
	}
	u := <-w.mux.Updates()
	if len(u.Changes) != 1 || u.Changes[0].Op != api.UpdateOp {
		return nil, errors.New("the mux did not say UPDATE of one pod")
	}
	return u.Changes[0].New, nil
}

// nowhere keeps nothing.
type nowhere struct{}

func (nowhere) Apply([]state.Record, []state.DocumentID) error { return nil }
func (nowhere) LoadAll() ([]state.Record, []error)             { return nil, nil }
