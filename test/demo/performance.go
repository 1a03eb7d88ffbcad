package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// step is one step of the demonstration.
type step struct {
	// title is the line that is printed before the step.
	title string
	// do does the step and returns once its result was observed. An error says what was seen instead.
	do func(ctx context.Context) error
}

// performance shows steps in order. Whatever happens, it then removes everything that was made.
type performance struct {
	out *screen
	// setUp returns the steps. cleanUp is called once at the end, even if setUp failed.
	setUp   func() ([]step, error)
	cleanUp func(ctx context.Context) error
	// within is how long a step may take.
	within time.Duration
	// agentLog returns the end of the agent's log. It is shown if a step was not observed.
	agentLog func() []string
	// shield makes the process ignore signals.
	shield func()
}

// cleanUpTime bounds cleaning up.
const cleanUpTime = 2 * time.Minute

// errInterrupted means that ctx ended before all steps were shown.
var errInterrupted = errors.New("interrupted")

// run shows everything and returns nil if all of it was observed and nothing is left.
func (p *performance) run(ctx context.Context) error {
	began := time.Now()
	steps, err := p.showAndClean(ctx)
	if err != nil {
		return err
	}
	p.out.line(fmt.Sprintf("all %d steps were observed in %.0f s", steps, time.Since(began).Seconds()))
	return nil
}

// showAndClean returns how many steps were shown.
func (p *performance) showAndClean(ctx context.Context) (steps int, err error) {
	defer func() {
		cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
		defer cancel()
		if left := p.cleanUp(cleaning); left != nil {
			p.out.fail("not all of it could be cleaned up: " + left.Error())
			err = errors.Join(err, left)
		}
	}()
	steps, stopped := p.show(ctx)
	// A signal may end the process until shield returns. So explain, which prints that the clean-up
	// begins, is called afterwards.
	p.shield()
	return steps, p.explain(ctx, stopped)
}

// stop is the reason why the demonstration ended early.
type stop struct {
	what string
	err  error
	log  []string
}

// show returns how many steps were shown, and nil if all of them were observed.
func (p *performance) show(ctx context.Context) (shown int, stopped *stop) {
	steps, err := p.setUp()
	if err != nil {
		return 0, &stop{what: "setting up", err: err}
	}
	for _, s := range steps {
		shown++
		p.out.line(fmt.Sprintf("%d. %s", shown, s.title))
		if err := bounded(ctx, p.within, s.do); err != nil {
			return shown, &stop{what: fmt.Sprintf("step %d was not observed", shown), err: err, log: p.agentLog()}
		}
	}
	return shown, nil
}

func bounded(ctx context.Context, within time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return do(ctx)
}

// explain prints why the demonstration ended early, if it did, and returns the reason as an error.
func (p *performance) explain(ctx context.Context, stopped *stop) error {
	if stopped == nil {
		return nil
	}
	if ctx.Err() != nil {
		p.out.fail("interrupted; cleaning up, which takes a few seconds")
		return errInterrupted
	}
	p.out.fail(stopped.what + ": " + stopped.err.Error())
	if len(stopped.log) > 0 {
		p.out.fail("the end of the agent's log:\n" + strings.Join(stopped.log, "\n"))
	}
	p.out.fail("cleaning up")
	return stopped.err
}
