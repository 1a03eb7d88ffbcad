package main

import (
	"strings"
	"testing"
	"time"
)

// story is a series of views that a witness sees, one second apart.
type story struct {
	views []view
	// before has functions that are called before views, by the index of the view.
	before map[int]func(w *witness)
}

func (s *story) findings(steps map[int]step) []finding {
	w := newWitness(nil, "root", noted(steps), nil)
	var all []finding
	for i := range s.views {
		if do := s.before[i]; do != nil {
			do(w)
		}
		v := s.views[i]
		v.at = second(30 + i)
		all = append(all, w.see(&v)...)
	}
	return all
}

func TestWitness(t *testing.T) {
	t.Parallel()
	home := sandboxOf("web-00", 1, "s1", alive)
	home.created = second(25)
	runs := containerOfPod(home, "main", "c1", alive)
	ended, remade := containerOfPod(home, "main", "c1", dead), containerOfPod(home, "main", "c2", alive)
	pick := func(sandbox bool) func(*witness) {
		return func(w *witness) { w.pick("web-00", 3, sandbox) }
	}
	both := view{sandboxes: []unit{home}, containers: []unit{runs}}
	after := view{sandboxes: []unit{home}, containers: []unit{ended, remade}}
	none := view{}

	job := sandboxOf("once-00", 1, "j1", alive)
	first, second := containerOfPod(job, "main", "j2", alive), containerOfPod(job, "main", "j3", alive)
	firstOver := containerOfPod(job, "main", "j2", dead)
	steady := sandboxOf("steady-00", 1, "t1", alive)

	for name, test := range map[string]struct {
		story story
		steps map[int]step
		want  []string
	}{
		"what goes on is as it should":               {story{views: []view{both, both}}, nil, nil},
		"a container that ended of nothing":          {story{views: []view{both, after}}, nil, []string{"container main c1"}},
		"a container that vanished":                  {story{views: []view{both, {sandboxes: []unit{home}}}}, nil, []string{"container main c1"}},
		"sandbox and container that vanished":        {story{views: []view{both, none}}, nil, []string{"sandbox s1", "container main c1"}},
		"it is told once":                            {story{views: []view{both, after, after}}, nil, []string{"container main c1"}},
		"a container that was killed":                {story{views: []view{both, after}, before: map[int]func(*witness){1: pick(false)}}, nil, nil},
		"the successor of one that was killed":       {story{views: []view{both, after, both}, before: map[int]func(*witness){1: pick(false)}}, nil, []string{"container main c2"}},
		"all of a sandbox that was killed":           {story{views: []view{both, none}, before: map[int]func(*witness){1: pick(true)}}, nil, nil},
		"a pod whose manifest was edited":            {story{views: []view{both, none}}, map[int]step{30: edited(2)}, nil},
		"a pod whose manifest was gone for a moment": {story{views: []view{both, none}}, map[int]step{30: removed, 31: edited(1)}, nil},
		"a pod whose manifest broke":                 {story{views: []view{both, none}}, map[int]step{30: spoiled}, []string{"sandbox s1", "container main c1"}},
		"a pod whose manifest will be edited later":  {story{views: []view{both, none}}, map[int]step{40: edited(2)}, []string{"sandbox s1", "container main c1"}},
		"a pod that was edited to it long ago":       {story{views: []view{both, none}}, map[int]step{1: edited(2), 2: edited(1)}, []string{"sandbox s1", "container main c1"}},
		"one the runtime does not know about": {
			story{views: []view{both, {sandboxes: []unit{home}, containers: []unit{containerOfPod(home, "main", "c1", unclear)}}}}, nil, nil,
		},
		"a job that is over":         {story{views: []view{{containers: []unit{first}}, {containers: []unit{firstOver}}}}, nil, nil},
		"a job that runs again":      {story{views: []view{{containers: []unit{first}}, {containers: []unit{firstOver, second}}}}, nil, []string{"never restarted"}},
		"a steady pod that ended":    {story{views: []view{{sandboxes: []unit{steady}}, none}}, nil, []string{"sandbox t1"}},
		"what nobody ever asked for": {story{views: []view{{sandboxes: []unit{sandboxOf("other", 1, "o1", alive)}}}}, nil, []string{"nobody ever asked"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := test.story.findings(test.steps)
			for _, want := range test.want {
				met := false
				for _, f := range got {
					met = met || strings.Contains(f.text, want)
				}
				if !met {
					t.Errorf("no finding says %q", want)
				}
			}
			if len(got) != len(test.want) {
				t.Errorf("findings %+v", got)
			}
		})
	}
}

func TestWhatRunsTwiceIsFoundOnceItHasLasted(t *testing.T) {
	t.Parallel()
	home := sandboxOf("web-00", 1, "s1", alive)
	both := view{sandboxes: []unit{home}, containers: []unit{containerOfPod(home, "main", "c1", alive), containerOfPod(home, "main", "c2", alive)}}
	one := view{sandboxes: []unit{home}, containers: []unit{containerOfPod(home, "main", "c1", alive)}}
	processes := map[string][]int{"s1": {1}, "c1": {2}, "c2": {3}}
	start := second(0)
	for name, test := range map[string]struct {
		// looks are the times at which see is called.
		looks []time.Duration
		found int
		see   func(w *witness, at time.Time) []finding
	}{
		"processes, in one look":  {[]time.Duration{0}, 0, func(w *witness, at time.Time) []finding { return w.seeProcesses(at, processes) }},
		"processes, in two looks": {[]time.Duration{0, watching}, 1, func(w *witness, at time.Time) []finding { return w.seeProcesses(at, processes) }},
		"processes, but not between": {[]time.Duration{0, watching, 2 * watching}, 0, func(w *witness, at time.Time) []finding {
			if at.Equal(start.Add(watching)) {
				return w.seeProcesses(at, nil)
			}
			return w.seeProcesses(at, processes)
		}},
		"by the runtime's word, for a while": {[]time.Duration{0, tolerance - 1}, 0, func(w *witness, at time.Time) []finding {
			v := both
			v.at = at
			return w.see(&v)
		}},
		"by the runtime's word, for long": {[]time.Duration{0, tolerance}, 1, func(w *witness, at time.Time) []finding {
			v := both
			v.at = at
			return w.see(&v)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWitness(nil, "root", noted(nil), nil)
			known := both
			known.at = start.Add(-time.Hour)
			w.see(&known)
			w.claims = nil
			w.pick("web-00", 0, true) // later exits are caused by this
			var got []finding
			for _, at := range test.looks {
				got = append(got, test.see(w, start.Add(at))...)
			}
			if len(got) != test.found {
				t.Errorf("found %+v", got)
			}
		})
	}
	w := newWitness(nil, "root", noted(nil), nil)
	w.see(&one)
	if got := w.seeProcesses(start, map[string][]int{"s1": {1}, "c1": {2}, "strange": {3}}); len(got) > 0 {
		t.Errorf("what is not known runs twice: %+v", got)
	}
}

func TestPickGivesOnlyWhatRunsOfThatPod(t *testing.T) {
	t.Parallel()
	home := sandboxOf("web-00", 1, "s1", alive)
	w := newWitness(nil, "root", noted(nil), nil)
	w.see(&view{
		sandboxes: []unit{sandboxOf("web-00", 1, "s0", dead), home, sandboxOf("web-01", 1, "s2", alive)},
		containers: []unit{
			containerOfPod(home, "main", "c0", dead), containerOfPod(home, "main", "c1", alive), containerOfPod(home, "beside", "c2", alive),
		},
	})
	for i, want := range []string{"c1", "c2"} {
		if got := w.pick("web-00", i, false); got == nil || got.id != want {
			t.Errorf("picked %v, want %s", got, want)
		}
	}
	if got := w.pick("web-00", 1, true); got == nil || got.id != "s1" {
		t.Errorf("picked %v", got)
	}
	if got := w.pick("web-02", 1, true); got != nil {
		t.Errorf("picked %v", got)
	}
}
