package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// step is one thing that is shown.
type step struct {
	// title is the line that is printed before.
	title string
	// do does it and returns once it was observed. What it returns else says what was seen instead.
	do func(ctx context.Context) error
}

// performance shows steps in order. Whatever comes between, what was made is taken away.
type performance struct {
	out *screen
	// setUp gives the steps. cleanUp is called once at the end, also where setUp failed.
	setUp   func() ([]step, error)
	cleanUp func(ctx context.Context) error
	// within is how long a step may take.
	within time.Duration
	// agentLog is the end of the agent's log, for when a step was not observed.
	agentLog func() []string
	// shield makes the process deaf to signals.
	shield func()
}

// cleanUpTime bounds cleaning up.
const cleanUpTime = 2 * time.Minute

// errInterrupted reports that ctx ended before all was shown.
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
		p.shield()
		cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
		defer cancel()
		if left := p.cleanUp(cleaning); left != nil {
			p.out.fail("not all of it could be cleaned up: " + left.Error())
			err = errors.Join(err, left)
		}
	}()
	return p.show(ctx)
}

func (p *performance) show(ctx context.Context) (shown int, err error) {
	steps, err := p.setUp()
	if err != nil {
		return 0, p.explain(ctx, "setting up", err, nil)
	}
	for _, s := range steps {
		shown++
		p.out.line(fmt.Sprintf("%d. %s", shown, s.title))
		if err := bounded(ctx, p.within, s.do); err != nil {
			return shown, p.explain(ctx, fmt.Sprintf("step %d was not observed", shown), err, p.agentLog())
		}
	}
	return shown, nil
}

func bounded(ctx context.Context, within time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return do(ctx)
}

// explain says why it goes no further.
func (p *performance) explain(ctx context.Context, what string, err error, log []string) error {
	if ctx.Err() != nil {
		p.out.fail("interrupted; cleaning up, which takes a few seconds")
		return errInterrupted
	}
	p.out.fail(what + ": " + err.Error())
	if len(log) > 0 {
		p.out.fail("the end of the agent's log:\n" + strings.Join(log, "\n"))
	}
	p.out.fail("cleaning up")
	return err
}
