package image

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"

	wardlet "github.com/wardlet/wardlet/core/status"
)

// hangs is a pull function: pulls from blackhole.example never finish, and others take a second.
func hangs(ctx context.Context, name string) error {
	if strings.HasPrefix(name, "blackhole.example/") {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return sleep(ctx, time.Second)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ensureAs calls Ensure for an image of a tenant's pod.
func ensureAs(ctx context.Context, u *Puller, tenant, image string) error {
	p := tenantPod(tenant, strings.ReplaceAll(image, "/", "-"))
	p.Spec.Containers[0].Image = image
	_, err := u.Ensure(ctx, p, &p.Spec.Containers[0])
	return err
}

func TestEnsure_hangingRegistryDelaysNoOtherOwner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u, _ := newPuller(hangs)
		ctx, cancel := context.WithCancel(t.Context())
		var bad, good sync.WaitGroup
		for i := range 50 {
			bad.Go(func() { _ = ensureAs(ctx, u, "bad", fmt.Sprintf("blackhole.example/app%d:1", i)) })
		}
		synctest.Wait()
		began := time.Now()
		for _, owner := range []string{"good", "default", "other"} {
			for i := range 6 {
				good.Go(func() {
					if err := ensureAs(t.Context(), u, owner, fmt.Sprintf("registry.example/%s%d:1", owner, i)); err != nil {
						t.Error(err)
					}
				})
			}
		}
		good.Wait()
		mustEqual(t, "time for six pulls of a second, three at a time, of each owner", 2*time.Second, time.Since(began))
		cancel()
		bad.Wait()
	})
}

func TestEnsure_pullsSomeOfAnOwnerAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most := 0, 0
		u, _ := newPuller(func(ctx context.Context, _ string) error {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			defer func() { mu.Lock(); running--; mu.Unlock() }()
			return sleep(ctx, time.Second)
		})
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() { _ = ensureAs(t.Context(), u, "a", fmt.Sprintf("registry.example/app%d:1", i)) })
		}
		all.Wait()
		mustEqual(t, "pulls at a time", 3, most)
	})
}

func TestEnsure_withoutProgress(t *testing.T) {
	t.Parallel()
	const stalled = "pull image \"blackhole.example/app:1\": no progress for 5m0s: the image file system did not grow; the registry may hang"
	for name, test := range map[string]struct {
		// The file system grows by that many bytes each minute, for that many minutes.
		by      int64
		minutes int
		store   error
		after   time.Duration
		want    string
	}{
		"nothing is written":                {after: 5 * time.Minute, want: stalled},
		"too little is written":             {by: 100_000, minutes: 60, after: 5 * time.Minute, want: stalled},
		"something is written for a while":  {by: 2 << 20, minutes: 20, after: 25 * time.Minute, want: stalled},
		"something is removed":              {by: -5 << 20, minutes: 60, after: 5 * time.Minute, want: stalled},
		"the file system cannot be read":    {store: errors.New("no"), after: time.Hour, want: "context deadline exceeded"},
		"something is written all the time": {by: 2 << 20, minutes: 120, after: time.Hour, want: "context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				u, n := newPuller(hangs)
				n.store, n.used = test.store, 1<<40
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				began := time.Now()
				var all sync.WaitGroup
				all.Go(func() {
					for range test.minutes {
						if sleep(ctx, time.Minute) != nil {
							return
						}
						n.grow(test.by)
					}
				})
				err := ensureAs(ctx, u, "a", "blackhole.example/app:1")
				took := time.Since(began)
				cancel()
				all.Wait()
				expectError(t, err, test.want)
				if off := took - test.after; off < -time.Minute || off > time.Minute {
					t.Errorf("after %s, want %s", took, test.after)
				}
			})
		})
	}
}

func TestEnsure_callerThatGivesUpIsNoFailure(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end  func(ctx context.Context) (context.Context, context.CancelFunc)
		want error
	}{
		"gives up": {context.WithCancel, context.Canceled},
		"deadline of its pod comes": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Minute)
		}, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				u, _ := newPuller(hangs)
				ctx, cancel := test.end(t.Context())
				var all sync.WaitGroup
				for _, image := range []string{"blackhole.example/a:1", "blackhole.example/a:1", "blackhole.example/b:1", "blackhole.example/c:1", "blackhole.example/d:1"} {
					all.Go(func() {
						err := ensureAs(ctx, u, "a", image)
						if _, ok := errors.AsType[*wardlet.Fault](err); ok || !errors.Is(err, test.want) {
							t.Errorf("%s: %v, want %v and no fault", image, err, test.want)
						}
					})
				}
				time.Sleep(time.Minute + time.Second) // after the deadline, if there is one
				cancel()
				all.Wait()
				mustEqual(t, "failures", 0, len(u.failures.last))
				mustEqual(t, "pulls", 0, len(u.pulls.all))
				for i := range 3 { // every place for a pull is free again
					if err := ensureAs(t.Context(), u, "a", fmt.Sprintf("registry.example/app%d:1", i)); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

func TestPulling_saysSinceWhen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u, n := newPuller(hangs)
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() { _ = ensureAs(ctx, u, "a", fmt.Sprintf("blackhole.example/app%d:1", i)) })
			synctest.Wait()
		}
		n.grow(3 << 20)
		time.Sleep(time.Minute)
		synctest.Wait()
		mustEqual(t, "a pull", []Pull{{Image: "blackhole.example/app0:1", Container: "app", Since: began, Began: began, Grown: 3 << 20}}, u.Pulling("a-blackhole.example-app0:1"))
		mustEqual(t, "one that waits", []Pull{{Image: "blackhole.example/app3:1", Container: "app", Since: began}}, u.Pulling("a-blackhole.example-app3:1"))
		mustEqual(t, "another pod's", nil, u.Pulling("other"))
		cancel()
		all.Wait()
		mustEqual(t, "afterwards", nil, u.Pulling("a-blackhole.example-app0:1"))
	})
}

func TestRun_prepullsUntilAllAreThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		away := time.Now().Add(time.Minute)
		atOnce := make(chan struct{}, 1)
		u, n := newPuller(func(ctx context.Context, name string) error {
			select {
			case atOnce <- struct{}{}:
			default:
				t.Error("two pulls at a time")
				return errors.New("busy")
			}
			defer func() { <-atOnce }()
			if name == "registry.example/late:1" && time.Now().Before(away) {
				return errors.New("dial tcp: no route to host")
			}
			return sleep(ctx, time.Second)
		}, "registry.example/late:1", "Bad Name", "registry.example/first", "registry.example/there:1")
		n.present["registry.example/there:1"] = true
		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { u.Run(ctx) })
		time.Sleep(5 * time.Second)
		n.mu.Lock()
		mustEqual(t, "pulls at first", []string{"registry.example/late:1", "registry.example/first:latest"}, n.pulls)
		n.mu.Unlock()
		time.Sleep(5 * time.Minute)
		n.mu.Lock()
		if !n.present["registry.example/late:1"] {
			t.Error("the image is not pulled when its registry is back")
		}
		if tries := len(n.pulls); tries < 4 || tries > 6 {
			t.Errorf("%d pulls, want one for each try with back-off", tries)
		}
		n.mu.Unlock()
		cancel()
		run.Wait()
	})
}

// While neither the API server nor the registry answers, a container that ran before waits for some
// seconds only; a pull that makes progress goes on.
func TestOfflinePull_whileTheAPIServerIsSilent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		offline bool
		ran     string
		// The file system grows by that many bytes each second.
		by    int64
		image string
		after time.Duration
		want  string
	}{
		"the API server answers":      {ran: "old", image: "blackhole.example/app:1", after: 5 * time.Minute, want: "old"},
		"it does not":                 {offline: true, ran: "old", image: "blackhole.example/app:1", after: offlineTimeout, want: "old"},
		"the container never ran":     {offline: true, image: "blackhole.example/app:1", after: 5 * time.Minute},
		"the registry sends an image": {offline: true, ran: "old", by: 2 << 20, image: "registry.example/slow:1", after: time.Minute, want: "registry.example/slow:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				u, n := newPuller(func(ctx context.Context, name string) error {
					if strings.HasSuffix(name, "/slow:1") {
						return sleep(ctx, time.Minute)
					}
					return hangs(ctx, name)
				})
				n.last, n.present["old"] = test.ran, true
				u.cfg.Offline = func() bool { return test.offline }
				ctx, cancel := context.WithCancel(t.Context())
				var all sync.WaitGroup
				all.Go(func() {
					for sleep(ctx, time.Second) == nil {
						n.grow(test.by)
					}
				})
				p := tenantPod("a", "web")
				p.Spec.Containers[0].Image, p.Spec.Containers[0].ImagePullPolicy = test.image, v1.PullAlways
				began := time.Now()
				id, err := u.Ensure(ctx, p, &p.Spec.Containers[0])
				took := time.Since(began)
				cancel()
				all.Wait()
				mustEqual(t, "image", test.want, id)
				if (err == nil) != (test.want != "") {
					t.Error(err)
				}
				if off := took - test.after; off < 0 || off > 30*time.Second {
					t.Errorf("after %s, want %s", took, test.after)
				}
			})
		})
	}
}
