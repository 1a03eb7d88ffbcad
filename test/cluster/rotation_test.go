//go:build e2e

package cluster

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	authentication "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/test/cluster/controlplane"
	"github.com/wardlet/wardlet/test/cluster/pki"
)

// TestTokenRotation: the server is restarted with another token. It refuses the old token, and
// the source uses the new one as soon as the file has it.
func TestTokenRotation(t *testing.T) {
	t.Parallel()
	tokens := map[string]controlplane.User{}
	plane := own(t, tokens)
	r := bareRig(t, plane)
	r.token = filepath.Join(filepath.Dir(r.ca), "token")
	me := controlplane.User{Name: "system:node:" + r.node, Groups: []string{"system:nodes"}}
	restart := func(token string) {
		clear(tokens)
		tokens[token] = me
		plane.StopServer(true)
		must(t, plane.StartServer(t.Context()))
	}
	restart("one")
	put(t, r.token, []byte("one\n"))
	r.add(t, "web")
	r.run(t)
	r.converges(t)

	restart("two")
	r.says(t, "Unauthorized", "renew the token or the certificate")
	r.label(t, "web", "2")
	r.add(t, "new")
	put(t, r.token, []byte("two\n"))
	r.converges(t)
}

// TestServiceAccountToken: a token of the TokenRequest API is revoked by the
// deletion of its account, and then renewed.
func TestServiceAccountToken(t *testing.T) {
	t.Parallel()
	r := bareRig(t, shared(t))
	r.token = filepath.Join(filepath.Dir(r.ca), "token")
	account := "/api/v1/namespaces/" + r.space + "/serviceaccounts"
	r.do(t, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/clusterroles", &rbac.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: r.space},
		Rules:      []rbac.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch"}}},
	}, nil)
	r.do(t, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &rbac.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: r.space},
		RoleRef:    rbac.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: r.space},
		Subjects:   []rbac.Subject{{Kind: "ServiceAccount", Namespace: r.space, Name: "agent"}},
	}, nil)
	renew := func() {
		r.do(t, http.MethodPost, account, &v1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "agent"}}, nil)
		var request authentication.TokenRequest
		r.do(t, http.MethodPost, account+"/agent/token", &authentication.TokenRequest{}, &request)
		put(t, r.token, []byte(request.Status.Token))
	}
	renew()
	r.add(t, "web")
	r.run(t)
	r.converges(t)
	r.do(t, http.MethodDelete, account+"/agent", nil, nil)
	// The server caches a valid token for some seconds.
	eventually(t, true, func() bool {
		r.net.Cut()
		return strings.Contains(r.sink.lastHealth(), "Unauthorized; renew the token or the certificate")
	})
	r.label(t, "web", "2")
	renew()
	r.converges(t)
}

// TestCertificateRotation: other authorities sign the certificates of the server and
// of its clients.
func TestCertificateRotation(t *testing.T) {
	t.Parallel()
	plane := own(t, nil)
	r := newRig(t, plane)
	r.add(t, "web")
	r.run(t)
	r.converges(t)
	plane.StopServer(true)
	var err error
	plane.Serving, err = pki.New("serving")
	must(t, err)
	plane.Clients, err = pki.New("clients")
	must(t, err)
	must(t, plane.StartServer(t.Context()))
	r.label(t, "web", "2")
	r.says(t, "check that the certificate authority is this server's")
	put(t, r.ca, plane.Serving.PEM)
	r.says(t, "Unauthorized")
	r.giveClient(t, plane.Clients)
	r.converges(t)
	if n := r.sink.snapshots(); n < 2 {
		t.Errorf("%d snapshots", n)
	}
	r.label(t, "web", "3")
	r.converges(t)
}
