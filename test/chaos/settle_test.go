package main

import "testing"

func TestDifferencesAreAboutPods(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		of   []finding
		want int
	}{
		"none":                      {nil, 0},
		"two of one pod":            {[]finding{{pod: "web"}, {pod: "web"}}, 1},
		"of two pods":               {[]finding{{pod: "web"}, {pod: "net"}}, 2},
		"of the agent: then of all": {[]finding{{pod: "web"}, {}}, 50},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := different(test.of, 50); got != test.want {
				t.Errorf("they are about %d", got)
			}
		})
	}
}
