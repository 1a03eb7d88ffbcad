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
	text         string
	renew, until time.Time
	// due triggers a sync of the pod when the token is to be renewed, even if the pod is rarely
	// synced otherwise.
	due *time.Timer
}

// Token returns a token of a pod's service account, bound to the pod. If a token cannot be renewed,
// the last one is returned, with a line in the log; it may be that of an earlier agent.
func (p *Plane) Token(ctx context.Context, of *v1.Pod, what *v1.ServiceAccountTokenProjection) (string, error) {
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
	p.mu.Unlock()
	if had != nil && now.Before(had.renew) {
		return had.text, nil
	}
	limit := tokenTimeout
	if had != nil {
		limit = p.patience // a pod that has a token must not wait for a server that does not answer
	}
	made, err := p.request(ctx, of, key, limit)
	if err != nil {
		if had == nil {
			return "", fmt.Errorf("token of service account %s/%s: %w", of.Namespace, key.account, p.cfg.Client.Explain(err))
		}
		p.mu.Lock()
		if p.tokens[key] == had {
			had.due.Reset(retryToken)
		}
		p.mu.Unlock()
		p.cfg.Logger.Warn("a service account's token cannot be renewed; the pod keeps the one it has",
			"pod", of.Namespace+"/"+of.Name, "account", key.account, "until", had.until, "err", p.cfg.Client.Explain(err))
		return had.text, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setToken(key, made, now)
	if !p.ended {
		p.watches.Go(func() { p.keepToken(key, made) })
	}
	return made.text, nil
}

// setToken makes a token the current one, and wakes the pod when it is to be renewed. The caller holds
// the lock.
func (p *Plane) setToken(key tokenKey, t *token, now time.Time) {
	if had := p.tokens[key]; had != nil {
		had.due.Stop()
	}
	t.due = time.AfterFunc(dueIn(now, t.renew), func() { p.cfg.Changed(key.pod) })
	if p.ended {
		t.due.Stop()
	}
	p.tokens[key] = t
}

func (p *Plane) request(ctx context.Context, of *v1.Pod, key tokenKey, limit time.Duration) (*token, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
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
	return &token{text: answer.Status.Token, renew: renewAt(asked, answer.Status.ExpirationTimestamp.Time), until: answer.Status.ExpirationTimestamp.Time}, nil
}

// dueIn returns the time to wait before a token is renewed. It is at least retryToken, because a
// wrong clock can make a token due at once.
func dueIn(now, renew time.Time) time.Duration { return max(renew.Sub(now), retryToken) }

// renewAt returns the time at which to renew a token that was requested at asked and expires at
// until. asked is by the node's clock, so a wrong clock only makes the renewal too early, or late
// until the server refuses the token.
func renewAt(asked, until time.Time) time.Time {
	life := until.Sub(asked)
	at := asked.Add(min(life-life/renewShare, renewAge))
	return at.Add(-rand.N(renewSpread))
}
