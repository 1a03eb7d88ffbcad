package state

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/state/durable"
	"github.com/wardlet/wardlet/core/state/durable/durabletest"
)

// places are a state directory and the directory of the second copy of the identity.
type places struct{ state, copy string }

func newPlaces(t *testing.T) places {
	t.Helper()
	home := t.TempDir()
	return places{filepath.Join(home, "lib", "state"), filepath.Join(home, "pods", "identity")}
}

func (p places) open(t *testing.T, more ...Option) (*Dir, *bytes.Buffer) {
	t.Helper()
	return open(t, p.state, append(more, WithIdentity(p.copy))...)
}

func (p places) loseState(t *testing.T) { t.Helper(); check(t, os.RemoveAll(p.state)) }
func (p places) loseCopy(t *testing.T)  { t.Helper(); check(t, os.RemoveAll(p.copy)) }

// odd replaces a file by one that has a valid checksum and names no installation.
func odd(t *testing.T, path string) {
	t.Helper()
	data, err := seal(map[string]string{"id": "web", "installation": "web"})
	check(t, err)
	check(t, os.WriteFile(path, data, 0o600))
}

func TestOneOfTwoCopiesIsEnoughToKnowTheInstallation(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		harm func(*testing.T, places)
		// other is true if the old installation is unknown, so that there is a new one. lost is
		// the expected result of Lost.
		other, lost bool
		says        string
	}{
		"nothing happened": {harm: func(*testing.T, places) {}},
		"the state is gone": {
			harm: func(t *testing.T, p places) { t.Helper(); p.loseState(t) },
			lost: true, says: "the state has no installation ID; its second copy is used",
		},
		"the state is empty": {
			harm: func(t *testing.T, p places) { t.Helper(); p.loseState(t); check(t, os.Mkdir(p.state, 0o700)) },
			lost: true, says: "the state of documents is lost",
		},
		"the state has lost only the ID": {
			harm: func(t *testing.T, p places) {
				t.Helper()
				check(t, os.Remove(filepath.Join(p.state, installationFile)))
			},
			lost: true, says: "its second copy is used",
		},
		"the ID in the state is corrupt": {
			harm: func(t *testing.T, p places) { t.Helper(); corrupt(t, filepath.Join(p.state, installationFile)) },
			says: "its second copy is used",
		},
		"the ID in the state is none": {
			harm: func(t *testing.T, p places) { t.Helper(); odd(t, filepath.Join(p.state, installationFile)) },
			says: "it holds no installation ID",
		},
		"the copy is gone, or never was": {harm: func(t *testing.T, p places) { t.Helper(); p.loseCopy(t) }},
		"the copy is corrupt": {
			harm: func(t *testing.T, p places) { t.Helper(); corrupt(t, filepath.Join(p.copy, identityFile)) },
			says: "state file is corrupt",
		},
		"the ID in the copy is none": {
			harm: func(t *testing.T, p places) { t.Helper(); odd(t, filepath.Join(p.copy, identityFile)) },
			says: "it holds no installation ID",
		},
		"both are gone": {
			harm:  func(t *testing.T, p places) { t.Helper(); p.loseState(t); p.loseCopy(t) },
			other: true, says: "new installation",
		},
		"the state is gone and the copy is corrupt": {
			harm: func(t *testing.T, p places) {
				t.Helper()
				p.loseState(t)
				corrupt(t, filepath.Join(p.copy, identityFile))
			},
			other: true, says: "new installation",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlaces(t)
			d, _ := p.open(t)
			first := d.Installation()
			if d.Lost() || !d.New() {
				t.Errorf("a first start: lost %v, new %v", d.Lost(), d.New())
			}
			check(t, d.Close())
			tc.harm(t, p)
			d, log := p.open(t)
			now := d.Installation()
			if (now != first) != tc.other || d.New() != tc.other || d.Lost() != tc.lost {
				t.Errorf("installation %s, was %s; new %v, lost %v", now, first, d.New(), d.Lost())
			}
			if !strings.Contains(log.String(), tc.says) || tc.says == "" && log.Len() > 0 {
				t.Errorf("logged: %s; want %q", log, tc.says)
			}
			check(t, d.Close())
			// The start has restored both copies.
			for _, lose := range []func(*testing.T, places){
				func(t *testing.T, p places) { t.Helper(); p.loseState(t) },
				func(t *testing.T, p places) { t.Helper(); p.loseCopy(t) },
			} {
				lose(t, p)
				d, _ = p.open(t)
				if d.Installation() != now {
					t.Errorf("then it was %s, not %s", d.Installation(), now)
				}
				check(t, d.Close())
			}
		})
	}
}

func TestTwoCopiesThatDifferStopTheStartAndStay(t *testing.T) {
	t.Parallel()
	p, q := newPlaces(t), newPlaces(t)
	var ids [2]string
	for i, one := range []places{p, q} {
		d, _ := one.open(t)
		ids[i] = d.Installation()
		check(t, d.Close())
	}
	for range 2 {
		_, err := tryOpen(p.state, io.Discard, WithIdentity(q.copy))
		wantError(t, err, "state directory "+p.state+": it is the state of installation "+ids[0]+", but "+
			filepath.Join(q.copy, identityFile)+" says that the pods there are those of "+ids[1]+": give each agent a state_root and a pod_root of its own; ")
	}
	for i, one := range []places{p, q} {
		d, log := one.open(t)
		if d.Installation() != ids[i] || log.Len() > 0 {
			t.Errorf("afterwards %s, was %s: %s", d.Installation(), ids[i], log)
		}
	}
}

func TestTheSecondCopyBelongsToOneAgent(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	d, _ := p.open(t)
	other := filepath.Join(t.TempDir(), "state")
	_, err := Open(other, d.log, WithIdentity(p.copy))
	wantError(t, err, "second copy of the installation ID in "+p.copy+": another agent uses it: stop that one, or name another pod_root")
	check(t, d.Close())
	first := d.Installation()
	d, _ = open(t, other, WithIdentity(p.copy))
	if d.Installation() != first {
		t.Errorf("the pods there are those of %s, and %s took them", first, d.Installation())
	}
}

// badPlaces are directories that cannot be used for the second copy.
var badPlaces = map[string]struct {
	plant func(path string) error
	err   string
}{
	"others may enter": {func(path string) error { return errors.Join(os.MkdirAll(path, 0o700), os.Chmod(path, 0o755)) }, "its mode is 0755, so others than its owner may enter: name a directory of its own as pod_root"},
	"a link":           {func(path string) error { return os.Symlink(os.TempDir(), path) }, "links are not followed: name another pod_root"},
	"a file":           {func(path string) error { return os.WriteFile(path, nil, 0o600) }, "not a directory"},
	"below a file": {func(path string) error {
		return errors.Join(os.Remove(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600))
	}, "not a directory"},
	"with a file where what is corrupt goes": {
		func(path string) error {
			return errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, quarantineDir), nil, 0o600))
		}, "not a directory",
	},
	"corrupt, and not to be moved aside": {
		func(path string) error {
			return errors.Join(os.MkdirAll(filepath.Join(path, quarantineDir, identityFile), 0o700), os.WriteFile(filepath.Join(path, identityFile), nil, 0o600),
				os.Chmod(path, 0o700), os.Chmod(filepath.Join(path, quarantineDir), 0o700))
		}, "cannot be moved aside",
	},
}

func TestAnAgentWithoutItsIDIsRefusedAPlaceForTheSecondCopyThatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	for name, tc := range badPlaces {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlaces(t)
			check(t, os.MkdirAll(filepath.Dir(p.copy), 0o755))
			check(t, tc.plant(p.copy))
			for range 2 {
				_, err := tryOpen(p.state, io.Discard, WithIdentity(p.copy))
				wantError(t, err, "second copy of the installation ID in "+p.copy+": ")
				wantError(t, err, tc.err)
			}
		})
	}
}

func TestAnAgentWithItsIDGoesOnWithoutASecondCopy(t *testing.T) {
	t.Parallel()
	for name, tc := range badPlaces {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlaces(t)
			d, _ := p.open(t)
			first := d.Installation()
			check(t, d.Close())
			p.loseCopy(t)
			check(t, tc.plant(p.copy))
			for range 2 {
				d, log := p.open(t)
				if d.Installation() != first || d.New() || d.Lost() {
					t.Errorf("installation %s, was %s; new %v, lost %v", d.Installation(), first, d.New(), d.Lost())
				}
				if said := log.String(); !strings.Contains(said, "level=WARN") || !strings.Contains(said, tc.err) || !strings.Contains(said, "start the agent again") {
					t.Errorf("logged: %s", said)
				}
				wantError(t, d.SecondCopy(), tc.err)
				name, _, err := d.NodeName("edge", nil)
				if check(t, err); name != "edge" {
					t.Errorf("the node is called %q", name)
				}
				check(t, d.Close())
			}
		})
	}
}

func TestASecondCopyThatOthersMayEnterIsStillReadAndBelongsToOneAgent(t *testing.T) {
	t.Parallel()
	p, q := newPlaces(t), newPlaces(t)
	d, _ := p.open(t)
	mine := d.Installation()
	check(t, d.Close())
	other, _ := q.open(t)
	check(t, os.Chmod(q.copy, 0o755))
	for _, path := range []string{filepath.Join(t.TempDir(), "state"), p.state} {
		_, err := Open(path, d.log, WithIdentity(q.copy))
		wantError(t, err, "another agent uses it: stop that one")
	}
	check(t, other.Close())
	_, err := tryOpen(p.state, io.Discard, WithIdentity(q.copy))
	wantError(t, err, "it is the state of installation "+mine+", but ")
}

// stopping is a file system that fails every change below a directory after a number of steps.
type stopping struct {
	durable.OS
	below string
	left  int
}

func writingTo(fs durable.Filesystem) Option { return func(d *Dir) { d.fs = fs } }

func (s *stopping) step(path string) error {
	if strings.HasPrefix(path, s.below) {
		if s.left--; s.left < 0 {
			return durabletest.ErrStep
		}
	}
	return nil
}

func (s *stopping) Create(dir, pattern string) (durable.File, error) {
	if err := s.step(dir); err != nil {
		return nil, err
	}
	return s.OS.Create(dir, pattern)
}

func (s *stopping) Rename(from, to string) error {
	if err := s.step(to); err != nil {
		return err
	}
	return s.OS.Rename(from, to)
}

func (s *stopping) SyncDir(dir string) error {
	if err := s.step(dir); err != nil {
		return err
	}
	return s.OS.SyncDir(dir)
}

func (s *stopping) Remove(path string) error {
	if s.left < 0 && strings.HasPrefix(path, s.below) {
		return durabletest.ErrStep
	}
	return s.OS.Remove(path)
}

func TestAnAgentWithItsStateStartsWhereTheSecondCopyCannotBeWritten(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	d, log := p.open(t, writingTo(&stopping{below: p.copy}))
	first := d.Installation()
	if !strings.Contains(log.String(), "there is no second copy of the installation ID") {
		t.Errorf("logged: %s", log)
	}
	check(t, d.Close())
	d, _ = p.open(t)
	check(t, d.Close())
	p.loseState(t)
	if d, _ = p.open(t); d.Installation() != first {
		t.Errorf("the next start did not make up for it: %s, was %s", d.Installation(), first)
	}
}

func TestAStartThatIsCutShortChangesNoInstallation(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*testing.T, places){
		"the first start":                    nil,
		"the start after the state was lost": func(t *testing.T, p places) { t.Helper(); p.loseState(t) },
		"the start after the copy was lost":  func(t *testing.T, p places) { t.Helper(); p.loseCopy(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for steps, whole := 0, false; !whole; steps++ {
				p := newPlaces(t)
				var first string
				if lose != nil {
					d, _ := p.open(t)
					first = d.Installation()
					check(t, d.Close())
					lose(t, p)
				}
				fs := &stopping{left: steps}
				d, err := tryOpen(p.state, io.Discard, writingTo(fs), WithIdentity(p.copy))
				if err == nil {
					whole = fs.left >= 0
					if first == "" {
						first = d.Installation() // pods may run under this ID
					}
					check(t, d.Close())
				} else if !errors.Is(err, durabletest.ErrStep) {
					t.Fatal(err)
				}
				d, _ = p.open(t)
				if first != "" && d.Installation() != first {
					t.Errorf("after %d steps it was %s and is %s", steps, first, d.Installation())
				}
				check(t, d.Close())
				if whole && steps < 3 {
					t.Errorf("a start of only %d steps", steps)
				}
			}
		})
	}
}

func TestTheNodesNameSurvivesALossOfTheState(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	called := func(host, configured, want, differs string) {
		t.Helper()
		d, _ := p.open(t)
		got, text, err := d.NodeName(configured, func() (string, error) { return host, nil })
		check(t, err)
		check(t, d.Close())
		if got != want || !strings.Contains(text, differs) || differs == "" && text != "" {
			t.Errorf("%q, %q; want %q, %q", got, text, want, differs)
		}
	}
	called("node-1", "", "node-1", "")
	p.loseState(t)
	called("node-2", "", "node-1", `the host is called "node-2" now, this node stays "node-1"`)
	p.loseCopy(t)
	called("node-2", "", "node-1", `the host is called "node-2" now, this node stays "node-1"`)
	p.loseState(t)
	called("node-1", "edge-7", "edge-7", `so far this node was "node-1"`)
	p.loseState(t)
	called("node-1", "", "edge-7", `the host is called "node-1"`)
}
