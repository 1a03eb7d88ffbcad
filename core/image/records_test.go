package image

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/test/fakecri"
)

var (
	secret = pod.RegistryAuth{Username: "me", Password: "secret"}
	wrong  = pod.RegistryAuth{Username: "me", Password: "wrong"}
)

// private returns a rig whose image tenant a has pulled with a credential.
func private(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.cri.Publish(appImage, 1000, fakecri.Program{})
	r.cri.Protect(appImage, secret.Username, secret.Password)
	r.keys.set(secret)
	if _, err := r.ensure(t, tenantPod("a", "web")); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRecords_privateImage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		owner   string
		keys    []pod.RegistryAuth
		restart bool
		policy  v1.PullPolicy
		pulls   int
		reason  string // "" is success
	}{
		"of who pulled it":                     {owner: "a"},
		"of who pulled it, after a restart":    {owner: "a", restart: true},
		"with the same credential":             {owner: "b", keys: []pod.RegistryAuth{secret}},
		"with the same and another":            {owner: "b", keys: []pod.RegistryAuth{wrong, secret}},
		"without a credential":                 {owner: "b", pulls: 1, reason: "ErrImagePull"},
		"of the operator without one":          {owner: "default", pulls: 1, reason: "ErrImagePull"},
		"without a credential after a restart": {owner: "b", restart: true, pulls: 1, reason: "ErrImagePull"},
		"with another credential":              {owner: "b", keys: []pod.RegistryAuth{wrong}, pulls: 1, reason: "ErrImagePull"},
		"without a credential and no pull":     {owner: "b", policy: v1.PullNever, reason: "ErrImageNeverPull"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := private(t)
			r.keys.set(test.keys...)
			r.cri.ForgetCalls()
			if test.restart {
				r.restart(t)
			}
			p := tenantPod(test.owner, "other")
			if test.policy != "" {
				p.Spec.Containers[0].ImagePullPolicy = test.policy
			}
			_, err := r.ensure(t, p)
			if test.reason == "" && err != nil {
				t.Error(err)
			}
			if test.reason != "" {
				mustEqual(t, "reason", test.reason, faultOf(t, err).Reason)
			}
			mustEqual(t, "pulls", test.pulls, r.cri.Count("PullImage"))
		})
	}
}

// After a pull with another credential has succeeded, the image is usable with both credentials.
func TestRecords_verifiedCredentialsCount(t *testing.T) {
	t.Parallel()
	r := private(t)
	rotated := pod.RegistryAuth{Username: "me", Password: "rotated"}
	r.cri.Protect(appImage, rotated.Username, rotated.Password)
	r.keys.set(rotated)
	r.cri.ForgetCalls()
	for _, owner := range []string{"b", "c"} {
		if _, err := r.ensure(t, tenantPod(owner, "web")); err != nil {
			t.Error(err)
		}
	}
	mustEqual(t, "pulls", 1, r.cri.Count("PullImage"))
}

func TestRecords_publicAndLoadedImagesAreEverybodys(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.Load("registry.example/loaded:1", 1, fakecri.Program{})
	r.cri.Publish(appImage, 1, fakecri.Program{})
	for _, owner := range []string{"a", "b"} {
		for _, image := range []string{appImage, "registry.example/loaded:1"} {
			p := tenantPod(owner, "web")
			p.Spec.Containers[0].Image = image
			if _, err := r.ensure(t, p); err != nil {
				t.Error(err)
			}
		}
	}
	mustEqual(t, "pulls", 1, r.cri.Count("PullImage"))
}

func TestRecords_imageThatBecomesPublic(t *testing.T) {
	t.Parallel()
	r := private(t)
	r.cri.Protect(appImage, "", "")
	r.keys.set()
	r.cri.ForgetCalls()
	for _, owner := range []string{"b", "c"} {
		if _, err := r.ensure(t, tenantPod(owner, "web")); err != nil {
			t.Error(err)
		}
	}
	mustEqual(t, "pulls", 1, r.cri.Count("PullImage"))
}

// If an agent is killed between a pull and the record of the pull, the next agent knows that the
// image was pulled with a credential.
func TestRecords_agentKilledDuringThePull(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.records.begin(appImage, &secret)
	r.cri.Load(appImage, 1, fakecri.Program{})
	r.restart(t)
	_, err := r.ensure(t, tenantPod("b", "web"))
	mustEqual(t, "reason", "ErrImagePull", faultOf(t, err).Reason)
	r.cri.Publish(appImage, 1, fakecri.Program{})
	r.restart(t)
	for _, owner := range []string{"c", "d"} { // the pull shows that the image is public
		if _, err := r.ensure(t, tenantPod(owner, "web")); err != nil {
			t.Error(err)
		}
	}
	mustEqual(t, "pending", 0, len(r.records.pending))
}

func TestRecords_failedPullLeavesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.keys.set(wrong, secret)
	_, err := r.ensure(t, tenantPod("a", "web"))
	mustEqual(t, "reason", "ErrImagePull", faultOf(t, err).Reason)
	mustEqual(t, "pulls", 2, r.cri.Count("PullImage"))
	mustEqual(t, "pending", 0, len(r.records.pending))
	files, err := filepath.Glob(filepath.Join(r.state, "pulled", "*"))
	if err != nil || len(files) > 0 {
		t.Errorf("files %v, %v", files, err)
	}
}

func TestRecords_areForTheirOwnerOnlyAndHoldNoPassword(t *testing.T) {
	t.Parallel()
	r := private(t)
	files, err := filepath.Glob(filepath.Join(r.state, "pulled", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	info, err := os.Stat(files[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if text := string(data); text == "" || strings.Contains(text, secret.Password) {
		t.Errorf("the record is %q", text)
	}
}

func TestRecords_ofImagesThatAreGoneAreForgotten(t *testing.T) {
	t.Parallel()
	n := &node{present: map[string]bool{}}
	r := loadRecords(memory{}, slog.New(slog.DiscardHandler))
	for i := range 3 * pruneAt {
		id := fmt.Sprintf("sha256:%d", i)
		n.present = map[string]bool{id: true, "sha256:0": true}
		r.pulled(t.Context(), id, "x", "a", &secret, n)
		if len(r.byID) > pruneAt {
			t.Fatalf("%d records", len(r.byID))
		}
	}
	if r.byID["sha256:0"] == nil {
		t.Error("the record of an image that is there is forgotten")
	}
}

// full is a store on a full disk.
type full struct{ memory }

func (full) Put(*state.PulledImage) error { return errors.New("no space left on device") }

func TestRecords_fullDiskCostsNoPull(t *testing.T) {
	t.Parallel()
	r := loadRecords(full{}, slog.New(slog.DiscardHandler))
	r.begin("x", &secret)
	r.pulled(context.Background(), "id", "x", "a", &secret, &node{})
	none := func() []pod.RegistryAuth { return nil }
	if !r.usable("id", "x", "a", none) || r.usable("id", "x", "b", none) {
		t.Error("the record does not count")
	}
}

func TestWith_isBounded(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 2 * maxSharers {
		list = with(list, strconv.Itoa(i))
	}
	if len(list) != maxSharers || list[len(list)-1] != strconv.Itoa(2*maxSharers-1) {
		t.Errorf("%d, the last is %s", len(list), list[len(list)-1])
	}
}
