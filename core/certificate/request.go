package certificate

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	certificates "k8s.io/api/certificates/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/kube"
)

const (
	// requestTimeout limits the time of one request to the API server.
	requestTimeout = 10 * time.Second
	// tellAfter is the time after which the log has the command that approves the request.
	tellAfter = 15 * time.Second
	// patient is the time after which the request is read every slowPoll only. A cluster without an
	// approver for it leaves it as it is for days.
	patient  = 5 * time.Minute
	slowPoll = time.Minute
)

// polls are the intervals at which a request is read until it is signed. In most clusters a
// controller signs it within a second.
var polls = backoff.Exponential{Min: 50 * time.Millisecond, Max: 5 * time.Second}

// Cluster lets signers of a cluster sign, with a CertificateSigningRequest.
type Cluster struct {
	// Client returns the client to ask with.
	Client func() (*kube.Client, error)
	// Signer is the name of the signer, and Usage what the certificate is for.
	Signer string
	Usage  certificates.KeyUsage
	Logger *slog.Logger
}

// Sign implements Signer. It waits until the request is signed or denied. A request that was made
// with the same key before is found again.
func (c *Cluster) Sign(ctx context.Context, key crypto.Signer, t *Template, wanted func() bool) ([]byte, error) {
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	request, err := c.request(key, t)
	if err != nil {
		return nil, err
	}
	began, told := time.Now(), false
	for tries := 0; ; tries++ {
		is, err := post(ctx, client, request)
		if err != nil {
			return nil, err
		}
		for _, condition := range is.Status.Conditions {
			if condition.Type == certificates.CertificateDenied || condition.Type == certificates.CertificateFailed {
				return nil, fmt.Errorf("%w: CertificateSigningRequest %s: %s: %s", ErrDenied, is.Name, condition.Reason, condition.Message)
			}
		}
		if len(is.Status.Certificate) > 0 {
			return is.Status.Certificate, nil
		}
		if !told && time.Since(began) > tellAfter {
			told = true
			c.Logger.Warn("a certificate of this node waits to be approved", "signer", c.Signer, "command", "kubectl certificate approve "+is.Name)
		}
		if !wanted() {
			return nil, ErrUnwanted
		}
		timer := time.NewTimer(pause(tries, time.Since(began)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

// pause returns the time until the request is read again.
func pause(tries int, waited time.Duration) time.Duration {
	if waited >= patient {
		return slowPoll
	}
	return polls.Delay(tries)
}

// post returns the request as the API server has it, and makes it if it is missing: a controller
// removes old requests without an answer.
func post(ctx context.Context, client *kube.Client, request *certificates.CertificateSigningRequest) (*certificates.CertificateSigningRequest, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	is := &certificates.CertificateSigningRequest{}
	ask := func(method string) error {
		r := client.Request(method, certificates.SchemeGroupVersion).Resource("certificatesigningrequests")
		if method == http.MethodGet {
			r = r.Name(request.Name)
		} else {
			r = r.Body(request)
		}
		return r.Do(ctx).Into(is)
	}
	err := ask(http.MethodGet)
	if apierrors.IsNotFound(err) {
		err = ask(http.MethodPost)
	}
	if err != nil {
		return nil, client.Explain(err)
	}
	return is, nil
}

// request returns the request. Its name depends on all that it asks for.
func (c *Cluster) request(key crypto.Signer, t *Template) (*certificates.CertificateSigningRequest, error) {
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject:  pkix.Name{CommonName: t.User, Organization: t.Groups},
		DNSNames: t.Names, IPAddresses: t.Addresses,
	}, key)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, part := range []any{c.Signer, c.Usage, t, public} {
		fmt.Fprintf(sum, "%q\n", fmt.Sprint(part))
	}
	return &certificates.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "node-csr-" + hex.EncodeToString(sum.Sum(nil))[:32]},
		Spec: certificates.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: c.Signer,
			Usages:     []certificates.KeyUsage{certificates.UsageDigitalSignature, c.Usage},
		},
	}, nil
}
