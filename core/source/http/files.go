package http

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	nethttp "net/http"
	"os"
	"syscall"
)

// maxFile is the greatest size of a file of headers or certificates, in bytes.
const maxFile = 1 << 20

// credentials are the contents of the files for a request. They are read for every request, so that
// a new token or certificate needs no restart.
type credentials struct {
	headers nethttp.Header
	// ca, cert and key are the contents, nil if no file is configured.
	ca, cert, key []byte
}

func readCredentials(c *Config) (*credentials, error) {
	var read credentials
	var headers []byte
	for _, f := range []struct {
		key, path string
		into      *[]byte
	}{
		{"header_file", c.HeaderFile, &headers},
		{"ca_file", c.CAFile, &read.ca},
		{"client_cert_file", c.ClientCertFile, &read.cert},
		{"client_key_file", c.ClientKeyFile, &read.key},
	} {
		if f.path == "" {
			continue
		}
		text, err := readFile(f.path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.key, err)
		}
		*f.into = text
	}
	var err error
	if read.headers, err = parseHeaders(c.HeaderFile, headers); err != nil {
		return nil, fmt.Errorf("header_file: %w", err)
	}
	return &read, nil
}

// readFile reads a regular file. It never blocks on a pipe.
func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return text, nil
}

// tlsConfig returns the TLS configuration: the authorities of ca, or the system's, and the client
// certificate if there is one.
func (r *credentials) tlsConfig(c *Config) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if r.ca != nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(r.ca) {
			return nil, fmt.Errorf("ca_file: %s holds no certificate; it needs one that begins with -----BEGIN CERTIFICATE-----", c.CAFile)
		}
	}
	if r.cert != nil || r.key != nil {
		pair, err := tls.X509KeyPair(r.cert, r.key)
		if err != nil {
			return nil, fmt.Errorf("client_cert_file %s and client_key_file %s: %w", c.ClientCertFile, c.ClientKeyFile, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
