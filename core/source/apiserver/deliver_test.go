package apiserver

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestDeliveries checks the deliveries that follow from changes at the server.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	deleted := func(p *v1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)} }
	tests := map[string]struct {
		before []string
		page   int
		then   func(*fakeServer)
		want   []string
		has    []string
	}{
		"a list is a snapshot": {
			before: []string{"a", "b"},
			want:   []string{"= default/a default/b"},
			has:    []string{"default/a img:1", "default/b img:1"},
		},
		"an empty list is a snapshot of nothing": {want: []string{"="}},
		"the pages of a list are one snapshot": {
			before: []string{"a", "b", "c", "d", "e"}, page: 2,
			want: []string{"= default/a default/b default/c default/d default/e"},
			has:  []string{"default/a img:1", "default/b img:1", "default/c img:1", "default/d img:1", "default/e img:1"},
		},
		"every event is one difference": {
			before: []string{"a", "b"},
			then:   func(s *fakeServer) { s.set("c", "img:1"); s.set("a", "img:2"); s.remove("b") },
			want:   []string{"= default/a default/b", "+default/c", "+default/a", "-default/b"},
			has:    []string{"default/a img:2", "default/c img:1"},
		},
		"a pod that is to end is a document, and gone when the server says so": {
			before: []string{"a", "b"},
			then:   func(s *fakeServer) { s.set("a", "img:1", deleted); s.set("b", "img:1", deleted); s.remove("b") },
			want:   []string{"= default/a default/b", "+default/a", "+default/b", "-default/b"},
			has:    []string{"default/a img:1 ending"},
		},
		"a pod of the same name is the same document": {
			before: []string{"a"},
			then:   func(s *fakeServer) { s.remove("a"); s.set("a", "img:2") },
			want:   []string{"= default/a", "-default/a", "+default/a"},
			has:    []string{"default/a img:2"},
		},
		"a pod of another node is a bad document": {
			then: func(s *fakeServer) { s.set("a", "img:1", func(p *v1.Pod) { p.Spec.NodeName = "other" }) },
			want: []string{"=", "+default/a"},
			has: []string{`default/a BAD spec.nodeName: Invalid value: "other": this node is "node"; ` +
				`what answers does not honour the field selector`},
		},
		"a bookmark is no delivery": {
			before: []string{"a"},
			then:   func(s *fakeServer) { s.bookmark(); s.set("a", "img:2") },
			want:   []string{"= default/a", "+default/a"},
			has:    []string{"default/a img:2"},
		},
		"events of other kinds and of unknown types are passed over": {
			before: []string{"a"},
			then: func(s *fakeServer) {
				s.tell("ADDED", metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}})
				s.set("a", "img:2")
			},
			want: []string{"= default/a", "+default/a"},
			has:  []string{"default/a img:2"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, test.before...)
			f.page = test.page
			run(t, f.source)
			eventually(t, test.want[:1], f.sink.all)
			if test.then != nil {
				test.then(f.fakeServer)
			}
			eventually(t, test.want, f.sink.all)
			if diff := cmp.Diff(test.has, f.sink.has()); diff != "" {
				t.Errorf("what the sink holds (-want +got):\n%s", diff)
			}
			eventually(t, "<nil>", f.sink.lastHealth)
		})
	}
}

// TestDocument checks that the document of a pod names its source and has no managed fields,
// which a node does not need.
func TestDocument(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "a")
	docs := make(chan []string, 1)
	f.source.out.sink = &probe{sink: f.sink, docs: docs}
	run(t, f.source)
	want := []string{"source=api id=default/a version=11 uid=uid-a kind=Pod managed=0 config.source=api"}
	if diff := cmp.Diff(want, <-docs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSlowSink checks that nothing is lost if a sink blocks, even if there are more changes
// than the buffers hold.
func TestSlowSink(t *testing.T) {
	t.Parallel()
	const changes = 100
	f := newFixture(t, "a")
	run(t, f.source)
	eventually(t, 1, f.watching)
	release := f.sink.block()
	f.set("a", "img:2")
	eventually(t, true, f.sink.busy.Load)
	large := func(p *v1.Pod) { p.Annotations = map[string]string{"pad": fmt.Sprintf("%16000d", 0)} }
	for i := range changes {
		f.set(fmt.Sprintf("p%d", i%50), fmt.Sprintf("img:%d", i), large)
	}
	if f.written() >= f.newest() {
		t.Error("the server has sent everything: the sink does not slow it down")
	}
	release()
	var want []string
	for i := changes - 50; i < changes; i++ {
		want = append(want, fmt.Sprintf("default/p%d img:%d", i%50, i))
	}
	want = sorted(append(want, "default/a img:2"))
	eventually(t, want, f.sink.has)
	if n := len(f.sink.all()); n != changes+2 {
		t.Errorf("%d deliveries, want one for each of %d changes, and the snapshot", n, changes+1)
	}
}

// TestSlowSinkWhoseWatchIsEnded checks that nothing is lost if the server ends the watch of a
// slow sink: both earlier and later changes arrive.
func TestSlowSinkWhoseWatchIsEnded(t *testing.T) {
	t.Parallel()
	for _, abort := range []bool{false, true} {
		t.Run(fmt.Sprintf("abort=%v", abort), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "a")
			run(t, f.source)
			eventually(t, 1, f.watching)
			eventually(t, 1, func() int { return len(f.sink.all()) })
			release := f.sink.block()
			f.set("a", "img:2")
			eventually(t, true, f.sink.busy.Load)
			f.set("a", "img:3")
			f.cut(abort)
			f.set("b", "img:1")
			f.remove("a")
			f.set("a", "img:4")
			release()
			eventually(t, []string{"default/a img:4", "default/b img:1"}, f.sink.has)
		})
	}
}

// TestSinkThatFails checks that Run returns the error of the sink and delivers nothing more.
func TestSinkThatFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "a")
	f.sink.fail = errors.New("the sink is gone")
	err := f.source.Run(t.Context())
	if err == nil || err.Error() != "the sink is gone" {
		t.Errorf("Run: %v", err)
	}
	if got := f.sink.all(); len(got) > 0 {
		t.Errorf("delivered: %v", got)
	}
}
