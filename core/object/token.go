package object

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	authentication "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A token is renewed in the same way as by a kubelet: when a fifth of its life is left, or a day
// after it was issued.
const (
	renewShare = 5
	renewAge   = 24 * time.Hour
	// renewSpread is the greatest time by which a renewal is brought forward, so that tokens are
	// not all renewed at once.
	renewSpread = 10 * time.Second
	// retryToken is the time after which a failed renewal is tried again.
	retryToken = 30 * time.Second
	// tokenTimeout is the time limit for a request to the server.
	tokenTimeout = 10 * time.Second
)

// tokenKey identifies the request for a token.
type tokenKey struct {
	pod               types.UID
	account, audience string
	seconds           int64
}

type token struct {
	text string
	// renew is when to renew the token. life and until are how long it is valid by the server; life is
	// zero for a token of an earlier agent.
	renew, until time.Time
	life         time.Duration
	// due triggers a sync of the pod when the token is to be renewed, even if the pod is rarely
	// synced otherwise.
	due *time.Timer
	// renewed is closed when the renewal that runs has ended; nil if none runs. left is true if a caller
	// did not wait for it.
	renewed chan struct{}
	left    bool
	// failed is why the last renewal failed, empty if it did not.
	failed string
}

// old reports whether the token is to be renewed. now counts the time that passes, with a clock that is
// wrong, too. clock is the time of day, which counts after the machine was suspended, too.
func (t *token) old(now, clock time.Time) bool {
	return !now.Before(t.renew) || !clock.Before(t.until.Add(-t.life/renewShare))
}

// Token returns a token of a pod's service account, bound to the pod. While a token cannot be renewed,
// the last one is returned, with a line in the log; it may be that of an earlier agent.
func (p *Objects) Token(ctx context.Context, of *v1.Pod, what *v1.ServiceAccountTokenProjection) (string, error) {
	key := tokenKey{pod: of.UID, account: of.Spec.ServiceAccountName, audience: what.Audience}
	if what.ExpirationSeconds != nil {
		key.seconds = *what.ExpirationSeconds
	}
	now := p.cfg.Now()
	p.mu.Lock()
	had := p.tokens[key]
	if had == nil && !p.ended {
		had = p.recallToken(key, now)
	}
	if had == nil {
		p.mu.Unlock()
		made, err := p.request(ctx, of, key)
		if err != nil {
			return "", fmt.Errorf("token of service account %s/%s: %w", of.Namespace, key.account, p.cfg.Client.Explain(err))
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.replaceToken(key, made)
		return made.text, nil
	}
	if had.renewed == nil && !p.ended && had.old(now, now.Round(0)) {
		had.renewed = make(chan struct{})
		p.watches.Go(func() { p.renewToken(of, key, had) })
	}
	renewed := had.renewed
	p.mu.Unlock()
	if renewed == nil {
		return had.text, nil
	}
	// A pod that has a token must not wait for a server that does not answer.
	patience := time.NewTimer(p.patience)
	defer patience.Stop()
	select {
	case <-renewed:
	case <-patience.C:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if had.renewed == renewed {
		had.left = true
	}
	if is := p.tokens[key]; is != nil {
		return is.text, nil
	}
	return had.text, nil
}

// renewToken replaces a token by a new one, and triggers a sync of the pod if it did not wait for that.
func (p *Objects) renewToken(of *v1.Pod, key tokenKey, had *token) {
	made, err := p.request(p.watching, of, key)
	failed := ""
	if err != nil {
		err = p.cfg.Client.Explain(err)
		failed = err.Error()
	}
	p.mu.Lock()
	close(had.renewed)
	late, news := had.left && err == nil, failed != had.failed
	had.renewed, had.left, had.failed = nil, false, failed
	switch {
	case p.tokens[key] != had: // the pod has gone in the meantime
		late, news = false, false
	case err == nil:
		p.replaceToken(key, made)
	case !p.ended:
		had.due.Reset(retryToken)
	}
	p.mu.Unlock()
	if late {
		p.cfg.Changed(key.pod)
	}
	if err != nil && news && p.watching.Err() == nil {
		p.cfg.Logger.Warn("a service account's token cannot be renewed; the pod keeps the one it has",
			"pod", of.Namespace+"/"+of.Name, "account", key.account, "until", had.until, "err", err)
	}
}

// replaceToken makes a token the current one, and writes it to the disk. The caller holds the lock.
func (p *Objects) replaceToken(key tokenKey, made *token) {
	p.setToken(key, made, p.cfg.Now())
	if !p.ended {
		p.watches.Go(func() { p.keepToken(key, made) })
	}
}

// setToken makes a token the current one, and wakes the pod when it is to be renewed. The caller holds
// the lock.
func (p *Objects) setToken(key tokenKey, t *token, now time.Time) {
	if had := p.tokens[key]; had != nil {
		had.due.Stop()
	}
	t.due = time.AfterFunc(dueIn(now, t.renew), func() { p.cfg.Changed(key.pod) })
	if p.ended {
		t.due.Stop()
	}
	p.tokens[key] = t
}

func (p *Objects) request(ctx context.Context, of *v1.Pod, key tokenKey) (*token, error) {
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	ask := &authentication.TokenRequest{Spec: authentication.TokenRequestSpec{
		BoundObjectRef: &authentication.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: of.Name, UID: of.UID},
	}}
	if key.audience != "" {
		ask.Spec.Audiences = []string{key.audience}
	}
	if key.seconds > 0 {
		ask.Spec.ExpirationSeconds = &key.seconds
	}
	answer := &authentication.TokenRequest{}
	asked := p.cfg.Now()
	if err := p.cfg.Client.Request(http.MethodPost, v1.SchemeGroupVersion).Namespace(of.Namespace).Resource("serviceaccounts").
		Name(key.account).SubResource("token").Body(ask).Do(ctx).Into(answer); err != nil {
		return nil, err
	}
	until := answer.Status.ExpirationTimestamp.Time
	life := until.Sub(asked)
	if answer.Spec.ExpirationSeconds != nil {
		life = time.Duration(*answer.Spec.ExpirationSeconds) * time.Second
	}
	return &token{text: answer.Status.Token, renew: renewAt(asked, life), until: until, life: life}, nil
}

// dueIn returns the time to wait before a token is renewed. It is at least retryToken, because a
// wrong clock can make a token due at once.
func dueIn(now, renew time.Time) time.Duration { return max(renew.Sub(now), retryToken) }

// renewAt returns the time at which to renew a token that was requested at asked and is then valid for
// life.
func renewAt(asked time.Time, life time.Duration) time.Time {
	at := asked.Add(min(life-life/renewShare, renewAge))
	return at.Add(-rand.N(renewSpread))
}
