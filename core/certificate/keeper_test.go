package certificate

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const life = 10 * time.Hour

// authority is a Signer, and has all that it was asked for.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	now  func() time.Time

	mu sync.Mutex
	// answer is what the next requests get instead of a certificate, nil for a certificate; user
	// replaces the user of certificates.
	answer error
	user   string
	// pending makes requests wait until they are not wanted any more.
	pending bool
	asked   []time.Time
	keys    []crypto.PublicKey
}

func newAuthority(t *testing.T, now func() time.Time) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	is := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true}
	return &authority{cert: is, key: key, now: now}
}

// Sign implements Signer.
func (a *authority) Sign(ctx context.Context, key crypto.Signer, t *Template, wanted func() bool) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.pending {
		a.mu.Unlock()
		time.Sleep(time.Second)
		a.mu.Lock()
		if ctx.Err() != nil || !wanted() {
			a.pending = false
			return nil, ErrUnwanted
		}
	}
	a.asked, a.keys = append(a.asked, a.now()), append(a.keys, key.Public())
	if a.answer != nil {
		return nil, a.answer
	}
	user := t.User
	if a.user != "" {
		user = a.user
	}
	is := &x509.Certificate{
		SerialNumber: big.NewInt(int64(len(a.asked) + 1)), Subject: pkix.Name{CommonName: user, Organization: t.Groups},
		DNSNames: t.Names, IPAddresses: t.Addresses, NotBefore: a.now(), NotAfter: a.now().Add(life),
	}
	der, err := x509.CreateCertificate(rand.Reader, is, a.cert, key.Public(), a.key)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), err
}

func (a *authority) set(answer error, user string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer, a.user = answer, user
}

func (a *authority) times() []time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

// kept is a keeper that runs, and what it needs.
type kept struct {
	*Keeper
	*authority
	store Store
	// skew is added to the time of the wall clock.
	skew time.Duration
	mu   sync.Mutex
	want *Template
	stop func()
}

func (k *kept) ask(t *Template) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.want = t
}

func (k *kept) turn(skew time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.skew = skew
}

// keep runs a keeper in a bubble. Its store is empty but for what an earlier one has written.
func keep(t *testing.T, k *kept) *kept {
	t.Helper()
	if k.authority == nil {
		k.authority = newAuthority(t, time.Now)
	}
	if k.store.Dir == "" {
		k.store = Store{Dir: filepath.Join(t.TempDir(), "pki"), Name: ClientName}
	}
	if k.want == nil {
		k.want = &Template{User: "system:node:n", Groups: []string{"system:nodes"}}
	}
	k.Keeper = New(Config{
		Store: k.store, Signer: k.authority, Logger: slog.New(slog.DiscardHandler),
		Template: func() *Template { k.mu.Lock(); defer k.mu.Unlock(); return k.want },
		Now:      func() time.Time { k.mu.Lock(); defer k.mu.Unlock(); return time.Now().Add(k.skew) },
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); k.Run(ctx) }()
	k.stop = func() { cancel(); <-done }
	synctest.Wait()
	return k
}

func (k *kept) certificate(t *testing.T) *x509.Certificate {
	t.Helper()
	have, err := k.store.Read()
	if err != nil {
		t.Fatal(err)
	}
	return have
}

func TestKeeper_firstCertificate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := keep(t, &kept{})
		defer k.stop()
		select {
		case <-k.Ready():
		default:
			t.Error("not ready with a certificate")
		}
		if have := k.certificate(t); have.Subject.CommonName != "system:node:n" || !slices.Equal(have.Subject.Organization, []string{"system:nodes"}) {
			t.Errorf("subject %v", have.Subject)
		}
		entries, err := os.ReadDir(k.store.Dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, entry := range entries {
			info, err := os.Stat(filepath.Join(k.store.Dir, entry.Name()))
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", entry.Name(), info.Mode(), err)
			}
			names = append(names, entry.Name())
		}
		want := []string{"kubelet-client-" + time.Now().UTC().Format("2006-01-02-15-04-05") + ".pem", "kubelet-client-current.pem"}
		if !slices.Equal(names, want) {
			t.Errorf("files %q, want %q", names, want)
		}
		if info, err := os.Stat(k.store.Dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("directory: %v, %v", info.Mode(), err)
		}
	})
}

func TestKeeper_renewsInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := keep(t, &kept{})
		defer k.stop()
		began := time.Now()
		time.Sleep(life * 69 / 100)
		synctest.Wait()
		if n := len(k.times()); n != 1 {
			t.Fatalf("%d requests in the first 69 %% of the time", n)
		}
		time.Sleep(life * 22 / 100)
		synctest.Wait()
		times := k.times()
		if len(times) != 2 {
			t.Fatalf("%d requests in 91 %% of the time", len(times))
		}
		if at := times[1].Sub(began); at < life*70/100 || at > life*90/100+checkPeriod {
			t.Errorf("renewed after %s of %s", at, life)
		}
		if k.keys[0].(*ecdsa.PublicKey).Equal(k.keys[1]) {
			t.Error("the renewed certificate has the old key")
		}
		if have := k.certificate(t); !have.NotBefore.Equal(times[1].Truncate(time.Second)) {
			t.Errorf("the file has the certificate of %s", have.NotBefore)
		}
	})
}

func TestKeeper_aRestartChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := keep(t, &kept{})
		due := renewal(k.certificate(t))
		k.stop()
		k = keep(t, &kept{authority: k.authority, store: k.store})
		if n := len(k.times()); n != 1 {
			t.Errorf("%d requests", n)
		}
		if again := renewal(k.certificate(t)); !again.Equal(due) {
			t.Errorf("due at %s, and after the restart at %s", due, again)
		}
		k.stop()
		// A request that was not answered before the restart is made with the same key again.
		k.set(errors.New("no answer"), "")
		if err := os.Remove(k.store.Current()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			k = keep(t, &kept{authority: k.authority, store: k.store})
			k.stop()
		}
		if n := len(k.keys); n != 3 || !k.keys[1].(*ecdsa.PublicKey).Equal(k.keys[2]) || k.keys[0].(*ecdsa.PublicKey).Equal(k.keys[1]) {
			t.Errorf("%d keys; the same again: %v", n, k.keys[1:])
		}
	})
}

// A clock that is wrong when a machine boots must cost no certificate, and delay none for long once it
// is right.
func TestKeeper_wrongClock(t *testing.T) {
	t.Parallel()
	for name, skew := range map[string]time.Duration{"behind": -50 * 365 * 24 * time.Hour, "ahead": 50 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				k := keep(t, &kept{})
				have := k.certificate(t)
				k.stop()
				// With a clock that is ahead the server's certificate seems to have expired, too.
				k.set(errors.New("certificate has expired"), "")
				k = keep(t, &kept{authority: k.authority, store: k.store, skew: skew})
				defer k.stop()
				time.Sleep(time.Hour)
				synctest.Wait()
				select {
				case <-k.Ready():
				default:
					t.Error("the certificate is not used while the clock is wrong")
				}
				k.turn(0)
				before := len(k.times())
				if skew < 0 && before != 1 {
					t.Errorf("%d requests with a certificate that is not valid yet", before)
				}
				k.set(nil, "")
				time.Sleep(time.Hour)
				synctest.Wait()
				if after := len(k.times()); after > before || !k.certificate(t).Equal(have) {
					t.Errorf("with the right clock: %d requests, certificate %v", after-before, k.certificate(t).NotBefore)
				}
				time.Sleep(life)
				synctest.Wait()
				if len(k.times()) == before {
					t.Error("never renewed")
				}
			})
		})
	}
}

func TestKeeper_denied(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer error
		user   string
	}{
		"denied":           {fmt.Errorf("%w: no", ErrDenied), ""},
		"for another user": {nil, "system:node:other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := newAuthority(t, time.Now)
				a.set(test.answer, test.user)
				k := keep(t, &kept{authority: a})
				defer k.stop()
				time.Sleep(30 * time.Minute)
				synctest.Wait()
				times := k.times()
				if len(times) != 6 { // after 0, 1, 3, 7, 15 and 30 minutes
					t.Errorf("%d requests in 30 minutes: %v", len(times), times)
				}
				for i := range k.keys[1:] {
					if k.keys[i].(*ecdsa.PublicKey).Equal(k.keys[i+1]) {
						t.Error("a denied key is used again")
					}
				}
				if files, _ := filepath.Glob(filepath.Join(k.store.Dir, "*.pem")); len(files) > 0 {
					t.Errorf("files %q", files)
				}
				select {
				case <-k.Ready():
					t.Error("ready without a certificate")
				default:
				}
				k.set(nil, "")
				time.Sleep(15 * time.Minute)
				synctest.Wait()
				k.certificate(t)
			})
		})
	}
}

func TestKeeper_unreachable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority(t, time.Now)
		a.set(errors.New("connection refused"), "")
		k := keep(t, &kept{authority: a})
		defer k.stop()
		time.Sleep(24 * time.Hour)
		k.set(nil, "")
		time.Sleep(30 * time.Second)
		synctest.Wait()
		k.certificate(t)
	})
}

func TestKeeper_newAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// Without an address there is nothing to ask for.
		k := &kept{want: &Template{}, authority: newAuthority(t, time.Now)}
		k.store = Store{Dir: filepath.Join(t.TempDir(), "pki"), Name: ServingName}
		keep(t, k)
		defer k.stop()
		address := func(text string) *Template {
			return &Template{User: "system:node:n", Groups: []string{"system:nodes"}, Names: []string{"n"}, Addresses: []net.IP{net.ParseIP(text)}}
		}
		for i, text := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.2"} {
			k.ask(nil)
			time.Sleep(time.Minute)
			k.ask(address(text))
			time.Sleep(checkPeriod)
			synctest.Wait()
			if have := k.certificate(t); len(have.IPAddresses) != 1 || have.IPAddresses[0].String() != text || !slices.Equal(have.DNSNames, []string{"n"}) {
				t.Errorf("%d: addresses %v, names %v", i, have.IPAddresses, have.DNSNames)
			}
		}
		if n := len(k.times()); n != 3 { // the first one is for the empty template
			t.Errorf("%d requests", n)
		}
	})
}

// A request that waits to be approved asks for the old address.
func TestKeeper_newAddressesWhileARequestWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		old, now := net.IPv4(10, 0, 0, 1), net.IPv4(10, 0, 0, 2)
		k := &kept{want: &Template{User: "system:node:n", Addresses: []net.IP{old}}, authority: newAuthority(t, time.Now)}
		k.pending = true
		keep(t, k)
		defer k.stop()
		time.Sleep(time.Hour)
		if n := len(k.times()); n != 0 {
			t.Errorf("%d certificates were signed", n)
		}
		k.ask(&Template{User: "system:node:n", Addresses: []net.IP{now}})
		time.Sleep(10 * time.Second)
		have, err := k.store.Read()
		if err != nil || len(have.IPAddresses) != 1 || !have.IPAddresses[0].Equal(now) {
			t.Errorf("certificate %v, %v", have, err)
		}
	})
}

func TestKeeper_damagedFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := keep(t, &kept{})
		defer k.stop()
		if err := os.WriteFile(k.store.Current(), []byte("-----BEGIN"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := k.store.Read(); err == nil || !strings.Contains(err.Error(), "kubelet-client-current.pem") {
			t.Errorf("error %v", err)
		}
		time.Sleep(2 * checkPeriod)
		synctest.Wait()
		k.certificate(t)
	})
}

// A signer may answer with certificates that are due again at once: its clock or that of the node is
// wrong, or its authority ends. The certificate is used, and the signer is not asked all the time.
func TestKeeper_signedTooLate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		skew time.Duration // of the node
		left time.Duration // how long the signer's certificates are still valid, of their life
		want int           // requests in an hour
	}{
		"over for the node's clock": {50 * 365 * 24 * time.Hour, life, 8}, // after 0, 1, 3, 7, 15, 30, 45 and 60 minutes
		"over":                      {0, -time.Minute, 8},
		"due":                       {0, life / 20, 8},
		"not valid yet":             {-50 * 365 * 24 * time.Hour, life, 1},
		"valid":                     {0, life, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := newAuthority(t, func() time.Time { return time.Now().Add(test.left - life) })
				k := keep(t, &kept{authority: a, skew: test.skew})
				defer k.stop()
				select {
				case <-k.Ready():
				default:
					t.Error("the certificate is not used")
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				if n := len(k.times()); n != test.want {
					t.Errorf("%d requests in an hour, want %d", n, test.want)
				}
				for i := range k.keys[1:] {
					if k.keys[i].(*ecdsa.PublicKey).Equal(k.keys[i+1]) {
						t.Error("the key of a certificate is used again")
					}
				}
				if k.turn(0); test.left != life {
					return
				}
				before := len(k.times())
				time.Sleep(life / 2)
				synctest.Wait()
				if after := len(k.times()); after != before {
					t.Errorf("with the right clock: %d requests", after-before)
				}
			})
		})
	}
}

// A certificate that the node signs itself is renewed, and never only valid in the past or in the
// future of a clock that was wrong.
func TestSelfSigned_renewed(t *testing.T) {
	t.Parallel()
	for name, skew := range map[string]time.Duration{"behind": -50 * 365 * 24 * time.Hour, "ahead": 50 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { renewSelfSigned(t, skew) })
		})
	}
}

// renewSelfSigned keeps a certificate. The clock is wrong by skew when the node first signs it.
func renewSelfSigned(t *testing.T, skew time.Duration) {
	t.Helper()
	store := Store{Dir: filepath.Join(t.TempDir(), "pki"), Name: SelfSignedName}
	var mu sync.Mutex
	now := func() time.Time { mu.Lock(); defer mu.Unlock(); return time.Now().Add(skew) }
	k := New(Config{
		Store: store, Signer: SelfSigned{Now: now}, Template: func() *Template { return &Template{User: "u", Names: []string{"n"}} },
		Logger: slog.New(slog.DiscardHandler), Now: now,
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); k.Run(ctx) }()
	defer func() { cancel(); <-done }()
	<-k.Ready()
	mu.Lock()
	skew = 0
	mu.Unlock()
	time.Sleep(2 * checkPeriod)
	for range 3 {
		synctest.Wait()
		have, err := store.Read()
		if err != nil {
			t.Fatal(err)
		}
		if now().Before(have.NotBefore) || now().After(have.NotAfter) || have.VerifyHostname("n") != nil {
			t.Errorf("at %s: valid from %s until %s for %v", now(), have.NotBefore, have.NotAfter, have.DNSNames)
		}
		mu.Lock()
		skew += selfSignedLife * 9 / 10
		mu.Unlock()
		time.Sleep(2 * checkPeriod)
	}
	if files, _ := filepath.Glob(filepath.Join(store.Dir, SelfSignedName+"-[12]*.pem")); len(files) > 5 {
		t.Errorf("it is signed again and again: %q", files)
	}
}
