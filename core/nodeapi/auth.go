package nodeapi

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"

	"github.com/wardlet/wardlet/core/kube"
)

// The times for which answers of the API server are cached, as in a kubelet, and the maximum number
// of cached answers.
const (
	knownUser    = 2 * time.Minute
	knownAllowed = 5 * time.Minute
	knownDenied  = 30 * time.Second
	maxKnown     = 1000
	// askTimeout limits the time for one answer of the API server.
	askTimeout = 10 * time.Second
)

// user is the user that sent a request.
type user struct {
	name, uid string
	groups    []string
	extra     map[string]authentication.ExtraValue
}

// authenticator identifies the user of a request.
type authenticator struct {
	// client reviews tokens; nil for a node without a cluster, which only accepts certificates.
	client *kube.Client
	// authorities returns those that sign certificates of clients.
	authorities func() (*x509.CertPool, error)
	now         func() time.Time

	// asking limits the number of tokens in review at the same time: any client can send one.
	asking chan struct{}

	mu sync.Mutex
	// known and refused cache answers by the digest of the token. They are separate so that a client
	// that sends many bad tokens only evicts refused ones.
	known, refused map[string]review
}

// maxAsking is the maximum number of tokens in review at the same time.
const maxAsking = 8

func newAuthenticator(client *kube.Client, authorities func() (*x509.CertPool, error), now func() time.Time) *authenticator {
	return &authenticator{
		client: client, authorities: authorities, now: now,
		asking: make(chan struct{}, maxAsking), known: map[string]review{}, refused: map[string]review{},
	}
}

// review is the API server's answer about a token; user is nil if it refused the token.
type review struct {
	user  *user
	until time.Time
}

var errUnknown = errors.New("neither a client certificate of the configured authority nor a token that the API server knows")

var errNoCertificate = errors.New("no client certificate of the configured authority; without a cluster there is nothing else to log in with")

func (a *authenticator) user(req *http.Request) (*user, error) {
	refused := errUnknown
	if a.client == nil {
		refused = errNoCertificate
	}
	if req.TLS != nil && len(req.TLS.PeerCertificates) > 0 {
		err := a.verify(req.TLS.PeerCertificates)
		if err == nil {
			subject := req.TLS.PeerCertificates[0].Subject
			return &user{name: subject.CommonName, groups: append(slices.Clone(subject.Organization), "system:authenticated")}, nil
		}
		refused = fmt.Errorf("client certificate: %w", err) // of another authority, maybe: its user may have a token
	}
	token, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	if token = strings.TrimSpace(token); !ok || token == "" || a.client == nil {
		return nil, refused
	}
	sum := sha256.Sum256([]byte(token))
	key := hex.EncodeToString(sum[:])
	now := a.now()
	a.mu.Lock()
	r, known := a.known[key]
	if !known {
		r, known = a.refused[key]
	}
	a.mu.Unlock()
	if !known || now.After(r.until) {
		var err error
		if r, err = a.ask(req.Context(), token, now); err != nil {
			return nil, err
		}
		a.mu.Lock()
		if delete(a.refused, key); r.user == nil {
			delete(a.known, key)
			keep(a.refused, key, r)
		} else {
			keep(a.known, key, r)
		}
		a.mu.Unlock()
	}
	if r.user == nil {
		return nil, errUnknown
	}
	return r.user, nil
}

// verify verifies the certificate of a client, which its intermediate authorities follow. The
// handshake has shown that the client has its key, and no more.
func (a *authenticator) verify(certs []*x509.Certificate) error {
	roots, err := a.authorities()
	if err != nil {
		return err
	}
	intermediates := x509.NewCertPool()
	for _, cert := range certs[1:] {
		intermediates.AddCert(cert)
	}
	_, err = certs[0].Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: intermediates, CurrentTime: a.now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return err
}

func (a *authenticator) ask(ctx context.Context, token string, now time.Time) (review, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	select {
	case a.asking <- struct{}{}:
		defer func() { <-a.asking }()
	case <-ctx.Done():
		return review{}, ctx.Err()
	}
	answer := &authentication.TokenReview{}
	err := a.client.Request(http.MethodPost, authentication.SchemeGroupVersion).Resource("tokenreviews").
		Body(&authentication.TokenReview{Spec: authentication.TokenReviewSpec{Token: token}}).Do(ctx).Into(answer)
	if err != nil {
		return review{}, a.client.Explain(err)
	}
	r := review{until: now.Add(knownUser)}
	if st := &answer.Status; st.Authenticated {
		r.user = &user{name: st.User.Username, uid: st.User.UID, groups: st.User.Groups, extra: st.User.Extra}
	}
	return r, nil
}

// keep adds an answer to a cache. It clears a full cache first.
func keep[K comparable, V any](known map[K]V, key K, value V) {
	if len(known) >= maxKnown {
		clear(known)
	}
	known[key] = value
}

// authorizer decides whether a user may make a request.
type authorizer struct {
	// client reviews access; nil for a node without a cluster, on which every user may do everything.
	client *kube.Client
	node   string
	now    func() time.Time

	mu    sync.Mutex
	known map[attributes]answer
}

// attributes identify a question to the API server.
type attributes struct{ user, groups, extra, verb, subresource string }

type answer struct {
	allowed bool
	until   time.Time
}

// proxySubresource is the subresource for all requests that have none of their own.
const proxySubresource = "proxy"

// fineGrained lists subresources for which the right to proxy is also sufficient, as in a kubelet.
var fineGrained = []string{"healthz", "pods", "configz"}

// may reports whether a user may send a request with a method to a subresource of the node.
func (z *authorizer) may(ctx context.Context, u *user, method, subresource string) (bool, error) {
	if z.client == nil {
		return true, nil
	}
	allowed, err := z.one(ctx, u, verb(method), subresource)
	if !allowed && err == nil && slices.Contains(fineGrained, subresource) {
		allowed, err = z.one(ctx, u, verb(method), proxySubresource)
	}
	return allowed, err
}

func (z *authorizer) one(ctx context.Context, u *user, verb, subresource string) (bool, error) {
	more, err := json.Marshal(u.extra) // with its keys sorted
	if err != nil {
		return false, err
	}
	key := attributes{u.name + "\x00" + u.uid, strings.Join(u.groups, "\x00"), string(more), verb, subresource}
	now := z.now()
	z.mu.Lock()
	a, known := z.known[key]
	z.mu.Unlock()
	if known && now.Before(a.until) {
		return a.allowed, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	extra := map[string]authorization.ExtraValue{}
	for key, value := range u.extra {
		extra[key] = authorization.ExtraValue(value)
	}
	review := &authorization.SubjectAccessReview{}
	err = z.client.Request(http.MethodPost, authorization.SchemeGroupVersion).Resource("subjectaccessreviews").
		Body(&authorization.SubjectAccessReview{Spec: authorization.SubjectAccessReviewSpec{
			User: u.name, UID: u.uid, Groups: u.groups, Extra: extra,
			ResourceAttributes: &authorization.ResourceAttributes{Verb: verb, Version: "v1", Resource: "nodes", Subresource: subresource, Name: z.node},
		}}).Do(ctx).Into(review)
	if err != nil {
		return false, z.client.Explain(err)
	}
	a = answer{allowed: review.Status.Allowed, until: now.Add(knownDenied)}
	if a.allowed {
		a.until = now.Add(knownAllowed)
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	keep(z.known, key, a)
	return a.allowed, nil
}

// verb returns the API server's verb for an HTTP method.
func verb(method string) string {
	switch method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	return "get"
}
