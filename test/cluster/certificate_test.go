//go:build e2e

package cluster

import (
	"context"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	certificates "k8s.io/api/certificates/v1"
	v1 "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/certificate"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/core/parts"
)

const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

// joining is a node with nothing but a bootstrap kubeconfig, and the configuration of its agent.
type joining struct {
	*rig
	cfg *config.Config
	// user is the user of the bootstrap kubeconfig.
	user   string
	object *v1.Node
}

// newJoining makes a node that has not joined yet.
func newJoining(t *testing.T) *joining {
	t.Helper()
	r := bareRig(t, shared(t))
	dir := t.TempDir()
	n := &joining{rig: r, cfg: config.Default(), user: "system:bootstrap:" + r.node, object: &v1.Node{}}
	n.object.Status.Addresses = []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: "10.0.0.7"}, {Type: v1.NodeHostName, Address: r.node}}
	n.cfg.Paths.CertDir = filepath.Join(dir, "pki")
	n.cfg.Cluster.Kubeconfig, n.cfg.Cluster.BootstrapKubeconfig = filepath.Join(dir, "etc", "kubelet.conf"), filepath.Join(dir, "bootstrap.conf")
	n.cfg.NodeAPI.ClientCAFile, n.cfg.NodeAPI.ServerTLSBootstrap = r.ca, true
	pair, err := r.plane.Clients.Client(n.user, "system:bootstrappers")
	must(t, err)
	text, err := kube.Kubeconfig(kube.Config{Server: r.net.URL(), Credentials: kube.Credentials{
		CA: kube.Material{File: r.ca}, Cert: kube.Material{Data: string(pair.Cert)}, Key: kube.Material{Data: string(pair.Key)},
	}})
	must(t, err)
	put(t, n.cfg.Cluster.BootstrapKubeconfig, text)
	r.do(t, http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &rbac.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: r.space},
		RoleRef:    rbac.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "system:node-bootstrapper"},
		Subjects:   []rbac.Subject{{Kind: "User", APIGroup: "rbac.authorization.k8s.io", Name: n.user}},
	}, nil)
	return n
}

// start runs the keepers of an agent that starts, until the test or stop ends them. It returns the
// agent's client.
func (n *joining) start(t *testing.T) (client *kube.Client, kept parts.Certificates, stop func()) {
	t.Helper()
	must(t, parts.TakeClientCertificate(n.cfg, time.Now()))
	client, err := parts.APIClient(n.cfg, n.log(t))
	must(t, err)
	kept = parts.NewCertificates(n.cfg, parts.CertificateSetting{
		Node: n.node, Object: func() *v1.Node { return n.object }, API: client, Logger: n.log(t), Now: time.Now,
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, k := range []*certificate.Keeper{kept.Client, kept.Serving} {
		if k != nil {
			running.Go(func() { k.Run(ctx) })
		}
	}
	stop = sync.OnceFunc(func() { cancel(); running.Wait(); client.Close() })
	t.Cleanup(stop)
	return client, kept, stop
}

// request waits for a request that user has made of a signer and that has no answer.
func (n *joining) request(t *testing.T, user, signer string) *certificates.CertificateSigningRequest {
	t.Helper()
	var found *certificates.CertificateSigningRequest
	eventually(t, true, func() bool {
		list := &certificates.CertificateSigningRequestList{}
		n.do(t, http.MethodGet, requests, nil, list)
		for i := range list.Items {
			if r := &list.Items[i]; r.Spec.Username == user && r.Spec.SignerName == signer && len(r.Status.Conditions) == 0 {
				found = r
				return true
			}
		}
		return false
	})
	return found
}

// answer approves and signs a request until end, or denies it for the zero time.
func (n *joining) answer(t *testing.T, r *certificates.CertificateSigningRequest, end time.Time) {
	t.Helper()
	kind := certificates.CertificateApproved
	if end.IsZero() {
		kind = certificates.CertificateDenied
	}
	r.Status.Conditions = append(r.Status.Conditions, certificates.CertificateSigningRequestCondition{Type: kind, Status: v1.ConditionTrue, Reason: "Test", Message: "says the test"})
	n.do(t, http.MethodPut, requests+"/"+r.Name+"/approval", r, r)
	if end.IsZero() {
		return
	}
	usage := x509.ExtKeyUsageClientAuth
	if r.Spec.SignerName == certificates.KubeletServingSignerName {
		usage = x509.ExtKeyUsageServerAuth
	}
	text, err := n.plane.Clients.SignRequest(r.Spec.Request, end, usage)
	must(t, err)
	r.Status.Certificate = text
	n.do(t, http.MethodPut, requests+"/"+r.Name+"/status", r, nil)
}

func ended(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A node with a bootstrap kubeconfig gets its certificates from the cluster, writes its kubeconfig
// when it has one, and needs the bootstrap kubeconfig no more.
func TestCertificates_bootstrap(t *testing.T) {
	t.Parallel()
	n := newJoining(t)
	_, kept, stop := n.start(t)
	first := n.request(t, n.user, certificates.KubeAPIServerClientKubeletSignerName)
	if _, err := os.Stat(n.cfg.Cluster.Kubeconfig); err == nil {
		t.Error("the kubeconfig is there before the certificate")
	}
	// An agent that restarts finds the request again.
	stop()
	client, kept, stop := n.start(t)
	n.answer(t, first, time.Now().Add(time.Hour))
	eventually(t, true, func() bool { return ended(kept.Client.Ready()) })
	var server struct{ GitVersion string }
	text, err := client.Request(http.MethodGet, v1.SchemeGroupVersion).AbsPath("/version").Do(t.Context()).Raw()
	if err != nil || !strings.Contains(string(text), "gitVersion") {
		t.Errorf("as the node: %v, %v", server, err)
	}
	loaded, err := kube.Load(n.cfg.Cluster.Kubeconfig)
	must(t, err)
	if current := filepath.Join(n.cfg.Paths.CertDir, "kubelet-client-current.pem"); loaded.Credentials.Cert.File != current || loaded.Credentials.Key.File != current || loaded.Credentials.CA.File != n.ca {
		t.Errorf("kubeconfig: %+v", loaded.Credentials)
	}
	if kept.Serving == nil || ended(kept.Serving.Ready()) {
		t.Error("a serving certificate that nobody signed")
	}
	serving := n.request(t, "system:node:"+n.node, certificates.KubeletServingSignerName)
	n.answer(t, serving, time.Now().Add(time.Hour))
	eventually(t, true, func() bool { return ended(kept.Serving.Ready()) })
	have, err := certificate.Store{Dir: n.cfg.Paths.CertDir, Name: certificate.ServingName}.Read()
	must(t, err)
	if have.VerifyHostname("10.0.0.7") != nil || have.VerifyHostname(n.node) != nil {
		t.Errorf("the serving certificate is for %v and %v", have.DNSNames, have.IPAddresses)
	}
	stop()
	must(t, os.Remove(n.cfg.Cluster.BootstrapKubeconfig))
	_, kept, _ = n.start(t)
	eventually(t, true, func() bool { return ended(kept.Client.Ready()) && ended(kept.Serving.Ready()) })
	list := &certificates.CertificateSigningRequestList{}
	n.do(t, http.MethodGet, requests, nil, list)
	made := 0
	for i := range list.Items {
		if user := list.Items[i].Spec.Username; user == n.user || user == "system:node:"+n.node {
			made++
		}
	}
	if made != 2 {
		t.Errorf("%d requests were made", made)
	}
}

// The certificate of a kubeconfig is renewed with itself; one that has expired is renewed with the
// bootstrap kubeconfig.
func TestCertificates_rotation(t *testing.T) {
	t.Parallel()
	n := newJoining(t)
	n.cfg.NodeAPI.ClientCAFile, n.cfg.NodeAPI.ServerTLSBootstrap = "", false
	n.cfg.Cluster.RotateCertificates = true
	pair, err := n.plane.Clients.Client("system:node:"+n.node, "system:nodes")
	must(t, err)
	write := func(cert, key []byte) {
		text, err := kube.Kubeconfig(kube.Config{Server: n.net.URL(), Credentials: kube.Credentials{
			CA: kube.Material{File: n.ca}, Cert: kube.Material{Data: string(cert)}, Key: kube.Material{Data: string(key)},
		}})
		must(t, err)
		put(t, n.cfg.Cluster.Kubeconfig, text)
	}
	must(t, os.Mkdir(filepath.Dir(n.cfg.Cluster.Kubeconfig), 0o700))
	write(pair.Cert, pair.Key)
	_, kept, stop := n.start(t)
	eventually(t, true, func() bool { return ended(kept.Client.Ready()) })
	if kept.Serving != nil {
		t.Error("a serving certificate for a node that serves nothing")
	}
	stop()
	store := certificate.Store{Dir: n.cfg.Paths.CertDir, Name: certificate.ClientName}
	for name, give := range map[string]func() ([]byte, []byte){
		"system:node:" + n.node: func() ([]byte, []byte) { return pair.Cert, pair.Key }, // a minute of its hour is over
		n.user: func() ([]byte, []byte) {
			expired, err := n.plane.Clients.Expired("system:node:"+n.node, "system:nodes")
			must(t, err)
			return expired.Cert, expired.Key
		},
	} {
		cert, key := give()
		write(cert, key)
		must(t, store.Write(cert, key, time.Now().Add(-time.Hour)))
		must(t, parts.TakeClientCertificate(n.cfg, time.Now()))
		client, err := parts.APIClient(n.cfg, n.log(t))
		must(t, err)
		late := func() time.Time { return time.Now().Add(56 * time.Minute) } // also for the expired one
		keeper := parts.NewCertificates(n.cfg, parts.CertificateSetting{Node: n.node, API: client, Logger: n.log(t), Now: late}).Client
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); keeper.Run(ctx) }()
		n.answer(t, n.request(t, name, certificates.KubeAPIServerClientKubeletSignerName), time.Now().Add(24*time.Hour))
		eventually(t, true, func() bool {
			have, err := store.Read()
			return err == nil && time.Until(have.NotAfter) > 2*time.Hour
		})
		cancel()
		<-done
		client.Close()
	}
}

// A request that is denied is made again with another key, and takes nothing else with it.
func TestCertificates_denied(t *testing.T) {
	t.Parallel()
	n := newJoining(t)
	_, kept, _ := n.start(t)
	n.answer(t, n.request(t, n.user, certificates.KubeAPIServerClientKubeletSignerName), time.Time{})
	// The key of a denied request is removed, and nothing else is there.
	eventually(t, 0, func() int {
		files, err := filepath.Glob(filepath.Join(n.cfg.Paths.CertDir, "*"))
		must(t, err)
		return len(files)
	})
	if ended(kept.Client.Ready()) {
		t.Error("ready with a denied request")
	}
}
