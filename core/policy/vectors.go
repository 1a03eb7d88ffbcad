package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// testSource is the source of the pods of tests.
const testSource = "test"

// testTime is the time of their decisions, always the same: a set that was
// good yesterday is good today.
var testTime = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func testKey(i int) string { return fmt.Sprintf("test[%d]", i) }

// test runs the policy's own tests; what fails is put down in its document.
func (l *loader) test(ctx context.Context, r *reading, p *policy) {
	for i, t := range p.Tests {
		if ctx.Err() != nil {
			return
		}
		q, err := p.testQuestion(r, t.Pod, l.cfg.Node)
		if err != nil {
			p.complain(testKey(i)+".pod", "%v", err)
			continue
		}
		if got := p.testAnswer(ctx, q, t.Expect); got != "" {
			p.complain(testKey(i)+".expect", "%s: want %s, got %s", t.Pod, t.Expect, got)
		}
	}
}

// testAnswer gives what a test got instead of what it should; empty where it
// got that.
func (p *policy) testAnswer(ctx context.Context, q *pod.Question, expect pod.Answer) string {
	if !p.Match.matchesPod(q) {
		if expect == pod.Abstain {
			return ""
		}
		return "abstain (the pod does not match [match])"
	}
	o := p.ask(ctx, p.testRequest(q))
	switch {
	case o.Failure != "":
		return "a failure: " + o.Message
	case o.Answer == expect:
		return ""
	case o.Message == "":
		return string(o.Answer)
	}
	return fmt.Sprintf("%s (%s)", o.Answer, strings.TrimPrefix(o.Reason+": "+o.Message, ": "))
}

// testQuestion asks about the one pod of a manifest: as a new pod, or, of a
// policy that judges no new ones, as a change of it that changes nothing.
func (p *policy) testQuestion(r *reading, path, node string) (*pod.Question, error) {
	manifest, err := testPod(r, path, node)
	if err != nil {
		return nil, err
	}
	q := &pod.Question{
		Op: pod.Add, Pod: manifest,
		Origin: pod.Origin{Source: testSource, Document: path, FirstSeen: testTime},
	}
	if len(p.Match.Operations) > 0 && !slices.Contains(p.Match.Operations, pod.Add) {
		q.Op, q.Old = pod.UpdateOp, manifest
	}
	return q, nil
}

func testPod(r *reading, path, node string) (*v1.Pod, error) {
	docs := pod.Decode(r.files[path].data, pod.DecodeFrom{Source: testSource, Kind: pod.KindFile, File: path, NodeName: node})
	for _, d := range docs {
		if d.Err != nil {
			return nil, d.Err
		}
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("%s: want one pod, found %d", path, len(docs))
	}
	return docs[0].Pod, nil
}
