package worker

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// Stray is a pod that runs although it has no worker.
type Stray struct {
	UID types.UID
	// Name and Namespace are those the runtime has for it.
	Name      string
	Namespace string
	// Source is the source its sandbox was made for, empty if it has none.
	Source   string
	observed status.ObservedPod
}

// KillStray ends a stray.
func (p *Pool) KillStray(s *Stray) { p.Update(Request{Kind: Kill, Observed: &s.observed}) }

// Strays are the pods of the last full list that run and have no worker.
func (p *Pool) Strays() []Stray {
	listed, _ := p.cfg.Cache.Pods()
	p.mu.Lock()
	defer p.mu.Unlock()
	var strays []Stray
	for i := range listed {
		o := &listed[i]
		if _, known := p.records[o.UID]; known || !o.Active() {
			continue
		}
		strays = append(strays, Stray{
			UID: o.UID, Name: o.Name, Namespace: o.Namespace, Source: o.Source(), observed: *o,
		})
	}
	return strays
}
