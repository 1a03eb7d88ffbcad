// Command login lets clients without a certificate use the API of a node: it listens with TLS, and
// forwards each request with a certificate of its own. Kubernetes' node tests send requests without
// credentials to a node.
//
//	login LISTEN NODE SERVING_CERT SERVING_KEY CLIENT_CERT CLIENT_KEY CA
//
// LISTEN and NODE are IP:PORT, the others are PEM files. It prints "ready" once it listens, and
// runs until it is killed.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "login:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 7 {
		return errors.New("usage: login LISTEN NODE SERVING_CERT SERVING_KEY CLIENT_CERT CLIENT_KEY CA")
	}
	proxy, err := toNode(args[1], args[4], args[5], args[6])
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "ready")
	server := &http.Server{Handler: proxy, ReadHeaderTimeout: 10 * time.Second}
	return server.ServeTLS(listener, args[2], args[3])
}

// toNode forwards requests to a node, with a client certificate in place of their credentials.
func toNode(node, certFile, keyFile, caFile string) (http.Handler, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: no certificate in it", caFile)
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "https", Host: node})
			r.Out.Header.Del("Authorization")
		},
		Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, RootCAs: authorities}},
	}, nil
}
