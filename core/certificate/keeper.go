package certificate

import (
	"context"
	"crypto"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/internal/backoff"
)

// checkPeriod is the interval at which a certificate is looked at. Its times are of the wall clock,
// which may be wrong when a machine boots and be set later, so that no timer is set to them.
const checkPeriod = 10 * time.Second

// firstPeriod is the interval while nothing can be requested yet and there is no certificate.
const firstPeriod = time.Second

// retry are the delays after attempts that failed, and denied those after a refusal by the cluster.
var (
	retry  = backoff.Exponential{Min: time.Second, Max: 30 * time.Second}
	denied = backoff.Exponential{Min: time.Minute, Max: 15 * time.Minute}
)

// Template is what a certificate has to say.
type Template struct {
	// User is the common name, and Groups are the organizations.
	User   string
	Groups []string
	// Names and Addresses are the alternative names.
	Names     []string
	Addresses []net.IP
}

// Signer gets a certificate signed.
type Signer interface {
	// Sign returns a certificate for a key as PEM. It may wait for it until ctx ends. The error wraps
	// ErrDenied if another attempt with the same key is useless.
	// While it waits, it asks whether the certificate is still wanted; if not, the error is ErrUnwanted.
	Sign(ctx context.Context, key crypto.Signer, t *Template, wanted func() bool) ([]byte, error)
}

// ErrUnwanted is the error of Signer if the certificate has to say something else now.
var ErrUnwanted = errors.New("names or addresses of the node have changed")

// ErrDenied is a request for a certificate that was denied.
var ErrDenied = errors.New("the request is denied")

// Config is the configuration of a Keeper.
type Config struct {
	Store Store
	// Template returns what the certificate has to say, nil while that is not known.
	Template func() *Template
	Signer   Signer
	// Stored is called when there is a certificate, before Ready, and again after each renewal; nil for
	// nothing to do.
	Stored func() error
	Logger *slog.Logger
	Now    func() time.Time
}

// Keeper keeps one certificate.
type Keeper struct {
	cfg   Config
	ready chan struct{}
	once  sync.Once
	// told is the last fault of Stored in the log.
	told string
}

// New returns a keeper that does nothing before Run.
func New(cfg Config) *Keeper { return &Keeper{cfg: cfg, ready: make(chan struct{})} }

// Ready returns a channel that is closed once there is a certificate, whether or not it is valid.
func (k *Keeper) Ready() <-chan struct{} { return k.ready }

// Run renews the certificate when 70 % to 90 % of its time are over, or when it has to say something
// else, until ctx ends. It runs once.
func (k *Keeper) Run(ctx context.Context) {
	failures, refusals := 0, 0
	for {
		wait := checkPeriod
		due := k.due()
		if due == "" && !k.cfg.Store.Exists() {
			wait = firstPeriod
		}
		if due != "" {
			k.cfg.Logger.Info("requesting a certificate", "file", k.cfg.Store.Current(), "because", due)
			switch err := k.renew(ctx); {
			case ctx.Err() != nil:
				return
			case errors.Is(err, ErrUnwanted):
				wait = 0
			case errors.Is(err, ErrDenied):
				wait = denied.Delay(refusals)
				refusals++
				k.cfg.Logger.Error("a certificate of this node was denied; asking again later", "file", k.cfg.Store.Current(), "in", wait, "err", err)
			case err != nil:
				wait = retry.Delay(failures)
				failures++
				k.cfg.Logger.Warn("a certificate of this node was not renewed; trying again", "file", k.cfg.Store.Current(), "in", wait, "err", err)
			default:
				failures, refusals = 0, 0
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// due returns why a certificate has to be requested now, empty if it need not.
func (k *Keeper) due() string {
	have, err := k.cfg.Store.Read()
	if err == nil {
		k.stored()
	}
	want := k.cfg.Template()
	switch now := k.cfg.Now(); {
	case want == nil:
		return ""
	case errors.Is(err, fs.ErrNotExist):
		return "there is none"
	case err != nil:
		return err.Error()
	case !says(have, want):
		return "names or addresses of the node have changed"
	case now.After(have.NotAfter):
		return "it has expired at " + have.NotAfter.UTC().Format(time.RFC3339)
	case k.selfSigned() && now.Before(have.NotBefore): // the clock was ahead
		return "it is not valid before " + have.NotBefore.UTC().Format(time.RFC3339)
	case now.After(renewal(have)):
		return "it expires at " + have.NotAfter.UTC().Format(time.RFC3339)
	}
	return ""
}

// selfSigned reports whether the node signs the certificate, so that another one costs nothing.
func (k *Keeper) selfSigned() bool {
	_, self := k.cfg.Signer.(SelfSigned)
	return self
}

// stored reports that there is a certificate.
func (k *Keeper) stored() {
	if k.cfg.Stored != nil {
		if err := k.cfg.Stored(); err != nil {
			if k.told != err.Error() {
				k.cfg.Logger.Error("the certificate of this node cannot be used yet", "file", k.cfg.Store.Current(), "err", err)
			}
			k.told = err.Error()
			return
		}
	}
	k.once.Do(func() { close(k.ready) })
}

// renew gets a certificate signed and stores it.
func (k *Keeper) renew(ctx context.Context) error {
	want := k.cfg.Template()
	if want == nil {
		return nil
	}
	key, keyText, err := k.cfg.Store.pendingKey()
	if err != nil {
		return err
	}
	text, err := k.cfg.Signer.Sign(ctx, key, want, func() bool { return reflect.DeepEqual(k.cfg.Template(), want) })
	if err == nil {
		err = k.accept(text, keyText, want)
	}
	if err == nil || errors.Is(err, ErrDenied) {
		err = errors.Join(err, k.cfg.Store.dropPending())
	}
	return err
}

// accept stores a certificate that was signed, if it says what was asked for. One that is due again is
// stored too: the clock may be wrong.
func (k *Keeper) accept(text, key []byte, want *Template) error {
	pair, err := tls.X509KeyPair(text, key)
	if err != nil {
		return fmt.Errorf("%w: what was signed cannot be used: %w", ErrDenied, err)
	}
	if have := pair.Leaf; !says(have, want) {
		return fmt.Errorf("%w: what was signed is for user %q in the groups %q, with the names %q and addresses %v", ErrDenied,
			have.Subject.CommonName, have.Subject.Organization, have.DNSNames, have.IPAddresses)
	}
	if err := k.cfg.Store.Write(text, key, k.cfg.Now()); err != nil {
		return err
	}
	k.stored()
	k.cfg.Logger.Info("a certificate was signed", "file", k.cfg.Store.Current(), "until", pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
	if now := k.cfg.Now(); now.After(renewal(pair.Leaf)) {
		return fmt.Errorf("%w: what was signed is valid from %s until %s and already due again at %s; check the clocks of this node and of the signer", ErrDenied,
			pair.Leaf.NotBefore.UTC().Format(time.RFC3339), pair.Leaf.NotAfter.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return nil
}

// says reports whether a certificate says at least what a template asks for.
func says(c *x509.Certificate, t *Template) bool {
	if c.Subject.CommonName != t.User {
		return false
	}
	for _, group := range t.Groups {
		if !slices.Contains(c.Subject.Organization, group) {
			return false
		}
	}
	for _, name := range t.Names {
		if !slices.Contains(c.DNSNames, name) {
			return false
		}
	}
	for _, ip := range t.Addresses {
		if !slices.ContainsFunc(c.IPAddresses, ip.Equal) {
			return false
		}
	}
	return true
}

// renewal returns the time from which a certificate is renewed: after 70 % to 90 % of its life, as
// with a kubelet. The share depends on the certificate, so that nodes that join together do not all
// renew together, and that a restart changes nothing.
func renewal(c *x509.Certificate) time.Time {
	sum := sha256.Sum256(c.Raw)
	share := 0.7 + 0.2*float64(binary.BigEndian.Uint32(sum[:]))/(1<<32)
	life := c.NotAfter.Sub(c.NotBefore)
	return c.NotBefore.Add(time.Duration(float64(life) * share))
}
