package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/test/bench/policies/question"
)

// instances is how many pods are evaluated in turn. The plane keeps fewer decisions, so that each
// pod is new to it.
const instances = 1024

// plane is a running decision plane, configured as by the agent, over a directory of its own.
type plane struct {
	*policy.Engine
	directory *directory
	engine    *wasm.Engine
	state     *state.Dir
	stateDir  string
	stop      context.CancelFunc
	running   sync.WaitGroup

	questions []api.Question
	next      int
	// mirror is a question about a mirror pod.
	mirror api.Question
	// asked is the number of policies that must return an opinion about each pod.
	asked   int
	answers chan api.Verdict
}

// newPlane starts a plane with policies and waits until they are in force.
func (r *run) newPlane(ctx context.Context, groups ...group) (_ *plane, err error) {
	p := &plane{answers: make(chan api.Verdict, 1), stop: func() {}}
	for _, g := range groups {
		if g.match == everyPod {
			p.asked += g.policies
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if p.directory, err = newDirectory(r.dir); err != nil {
		return nil, err
	}
	if err := p.directory.write(0, groups...); err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	if p.stateDir, err = os.MkdirTemp(r.dir, "state-"); err != nil {
		return nil, err
	}
	if p.state, err = state.Open(p.stateDir, log); err != nil {
		return nil, err
	}
	cache, err := filepath.Abs(r.agentCache())
	if err != nil {
		return nil, err
	}
	if p.engine, err = wasm.NewEngine(cache, log, r.compiling...); err != nil {
		return nil, err
	}
	if p.questions, err = questions(); err != nil {
		return nil, err
	}
	mirror := p.pod().DeepCopy()
	mirror.Annotations[pod.AnnotationMirror] = ""
	p.mirror = *question.Request(mirror).Question
	p.Engine = policy.New(policy.Config{
		Dir: p.directory.path, Kinds: map[string]string{"api": "api"}, Sources: []string{"api"}, Node: "node-1",
		Kept: p.state.PolicySets(), Loader: eval.Sandbox(p.engine), Logger: log, Now: time.Now,
		ClockSynchronized: func() bool { return true },
		// One evaluator, so that a decision begins only after the previous one is tidied up.
		Evaluators: 1,
	})
	running, stop := context.WithCancel(ctx)
	p.stop = stop
	p.running.Go(func() { _ = p.Run(running) }) // it returns the error of its context
	return p, p.ask(ctx)
}

// tell asks about each pod once. The plane computes the pod's instance then and not again; that
// time is measured separately (telling).
func (p *plane) tell(ctx context.Context) error {
	for range p.questions {
		if err := p.ask(ctx); err != nil {
			return err
		}
	}
	return nil
}

// questions returns a question about each pod.
func questions() ([]api.Question, error) {
	one, err := question.Pod()
	if err != nil {
		return nil, err
	}
	all := make([]api.Question, instances)
	for i := range all {
		p := one.DeepCopy()
		p.Name = fmt.Sprintf("%s-%d", one.Name, i)
		p.UID = types.UID(fmt.Sprintf("%s-%d", one.UID, i))
		all[i] = *question.Request(p).Question
	}
	return all, nil
}

// ask asks about the next pod, and waits for the verdict.
func (p *plane) ask(ctx context.Context) error {
	p.Judge(p.turn(), p.answer)
	select {
	case v := <-p.answers:
		return p.check(v)
	case <-ctx.Done(): // the plane stops, too, and answers nothing more
		return ctx.Err()
	}
}

// answer receives a verdict.
func (p *plane) answer(v api.Verdict) { p.answers <- v }

// turn returns the next question.
func (p *plane) turn() api.Question {
	p.next = (p.next + 1) % len(p.questions)
	return p.questions[p.next]
}

// check returns an error unless the pod is allowed by all policies that must be asked.
func (p *plane) check(v api.Verdict) error {
	if v.Answer != api.Allow || len(v.Opinions) != p.asked {
		return fmt.Errorf("the pod is not allowed by %d policies: %s by %d, %s", p.asked, v.Answer, len(v.Opinions), v.Message)
	}
	return nil
}

// pod returns the pod that all sides evaluate.
func (p *plane) pod() *v1.Pod { return p.questions[0].Pod }

func (p *plane) close() error {
	p.stop()
	p.running.Wait()
	var errs []error
	if p.engine != nil {
		errs = append(errs, p.engine.Close())
	}
	if p.state != nil {
		errs = append(errs, p.state.Close())
	}
	if p.stateDir != "" {
		errs = append(errs, os.RemoveAll(p.stateDir))
	}
	if p.directory != nil {
		errs = append(errs, p.directory.remove())
	}
	return errors.Join(errs...)
}
