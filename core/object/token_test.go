package object

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/state"
)

const account = "/api/v1/namespaces/shop/serviceaccounts/clerk/token "

func (r *rig) token(t *testing.T, pod, audience string) string {
	t.Helper()
	token, err := r.Token(t.Context(), newPod(pod), &v1.ServiceAccountTokenProjection{Audience: audience})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestToken_isRenewedInTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		life, keeps, renews time.Duration
	}{
		"when a fifth of its life is left":         {time.Hour, 47 * time.Minute, 48*time.Minute + time.Second},
		"after a day, however long it is good for": {365 * 24 * time.Hour, 24*time.Hour - time.Minute, 24*time.Hour + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.server.life = test.life
			if got := r.token(t, "web", ""); got != account+"1" {
				t.Fatalf("token %q", got)
			}
			r.advance(test.keeps)
			if got := r.token(t, "web", ""); got != account+"1" {
				t.Errorf("after %s: token %q", test.keeps, got)
			}
			r.advance(test.renews - test.keeps)
			if got := r.token(t, "web", ""); got != account+"2" {
				t.Errorf("after %s: token %q", test.renews, got)
			}
		})
	}
}

func TestToken_isOfOnePodAndAudience(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i, of := range [][2]string{{"web", ""}, {"web", "vault"}, {"db", ""}} {
		if got, want := r.token(t, of[0], of[1]), account+string(rune('1'+i)); got != want {
			t.Errorf("token of %v: %q, want %q", of, got, want)
		}
	}
	r.Release("uid-web")
	if got := r.token(t, "db", ""); got != account+"3" {
		t.Errorf("token of a pod that is there: %q", got)
	}
	if got := r.token(t, "web", ""); got != account+"4" {
		t.Errorf("token after the pod is gone: %q", got)
	}
}

func TestToken_staysWhileItCannotBeRenewed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if got := r.token(t, "web", ""); got != account+"1" {
		t.Fatalf("token %q", got)
	}
	r.server.turn(true)
	r.advance(2 * time.Hour)
	if got := r.token(t, "web", ""); got != account+"1" {
		t.Errorf("token %q", got)
	}
	if _, err := r.Token(t.Context(), newPod("db"), &v1.ServiceAccountTokenProjection{}); err == nil {
		t.Error("a token that never was")
	}
	r.server.turn(false)
	if got := r.token(t, "web", ""); got != account+"2" {
		t.Errorf("token after the server is back: %q", got)
	}
}

// TestToken_isRenewedBehindASlowNetwork checks that a renewal may take longer than a pod waits for it.
func TestToken_isRenewedBehindASlowNetwork(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.token(t, "web", "")
	r.advance(2 * time.Hour)
	hold := make(chan struct{})
	r.server.mu.Lock()
	r.server.hold = hold
	r.server.mu.Unlock()
	for range 2 {
		if got := r.token(t, "web", ""); got != account+"1" {
			t.Fatalf("while the answer is under way: token %q", got)
		}
	}
	close(hold)
	eventually(t, "syncs of the pod", 1, func() int { return r.changesOf("uid-web") })
	if got := r.token(t, "web", ""); got != account+"2" {
		t.Errorf("after the answer: token %q", got)
	}
}

func TestToken_old(t *testing.T) {
	t.Parallel()
	asked := time.Unix(1e9, 0)
	for name, test := range map[string]struct {
		// behind is by how much the node's clock was behind when the token was requested, passed is the
		// time since then, and clock is by how much the clock has been set forward.
		behind, passed, clock time.Duration
		want                  bool
	}{
		"fresh":                                 {0, 47 * time.Minute, 0, false},
		"with a fifth of its life":              {0, 48 * time.Minute, 0, true},
		"of a clock that was behind":            {12 * time.Hour, 48 * time.Minute, 0, true},
		"of a clock that was set right":         {12 * time.Hour, 47 * time.Minute, 12 * time.Hour, false},
		"on a machine that was suspended":       {0, time.Minute, time.Hour, true},
		"on a machine whose clock was set back": {0, 49 * time.Minute, -time.Hour, true},
		"of a clock that was far ahead":         {-12 * time.Hour, time.Minute, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := &token{renew: asked.Add(48 * time.Minute), until: asked.Add(test.behind + time.Hour), life: time.Hour}
			now := asked.Add(test.passed)
			if got := made.old(now, now.Add(test.clock)); got != test.want {
				t.Errorf("old %t, want %t", got, test.want)
			}
		})
	}
}

func TestToken_hasItsPodLookedAtWhenItIsDue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.token(t, "web", "")
	r.Objects.mu.Lock()
	for _, held := range r.tokens {
		held.due.Reset(0)
	}
	r.Objects.mu.Unlock()
	for deadline := time.Now().Add(10 * time.Second); r.changesOf("uid-web") == 0; {
		if time.Now().After(deadline) {
			t.Fatal("after 10 s the pod was not looked at")
		}
		runtime.Gosched()
	}
}

func TestDueIn(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	for renew, want := range map[time.Duration]time.Duration{time.Hour: time.Hour, 0: retryToken, -10 * 365 * 24 * time.Hour: retryToken} {
		if got := dueIn(now, now.Add(renew)); got != want {
			t.Errorf("to be renewed in %s: looked at after %s, want %s", renew, got, want)
		}
	}
}

// TestToken_isKept checks that an agent that starts while the server is down uses the tokens of an
// earlier one, also if they have expired, and requests new ones when the server is back.
func TestToken_isKept(t *testing.T) {
	t.Parallel()
	d := &disk{records: map[string]state.Object{}}
	r := newRigOn(t, nil, d)
	for _, pod := range []string{"web", "db"} {
		r.token(t, pod, "")
	}
	eventually(t, "kept", "Token uid-db/clerk//0, Token uid-web/clerk//0", d.keys)
	copies, _ := d.Load()
	for i := range copies {
		if data, _ := json.Marshal(copies[i]); strings.Contains(string(data)+string(copies[i].Sealed), "clerk/token") {
			t.Errorf("%s can be read on the disk", copies[i].Key)
		}
	}
	r.server.turn(true)
	r.stop()

	after := newRigOn(t, r.server, d)
	if got := after.token(t, "web", ""); got != account+"1" {
		t.Errorf("after a restart: token %q", got)
	}
	if n := r.server.refused; n > 0 {
		t.Errorf("%d requests for a token that is valid", n)
	}
	after.advance(2 * time.Hour)
	if got := after.token(t, "db", ""); got != account+"2" {
		t.Errorf("an expired token after a restart: %q", got)
	}
	r.server.turn(false)
	if got := after.token(t, "db", ""); got != account+"3" {
		t.Errorf("when the server is back: token %q", got)
	}
	after.Release("uid-web")
	after.Release("uid-db")
	eventually(t, "kept after the last pod", "", d.keys)
}

// TestToken_ofAnotherKey checks that a copy that cannot be decrypted is replaced.
func TestToken_ofAnotherKey(t *testing.T) {
	t.Parallel()
	d := &disk{records: map[string]state.Object{}}
	r := newRigOn(t, nil, d)
	r.token(t, "web", "")
	eventually(t, "kept", "Token uid-web/clerk//0", d.keys)
	r.stop()
	after := newRigOn(t, r.server, d)
	after.cfg.Key = testKey(t, "b")
	if got := after.token(t, "web", ""); got != account+"2" {
		t.Errorf("token %q", got)
	}
}
