package kube

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Load reads the cluster and user of a kubeconfig's current context. Relative paths start from the
// file's directory. Load returns an error for settings that the agent does not support: programs
// and plugins that create credentials, basic authentication, impersonation, and servers whose
// certificate is not verified.
func Load(path string) (Config, error) {
	file, err := clientcmd.LoadFromFile(path)
	if err == nil {
		err = clientcmd.ResolveLocalPaths(file)
	}
	if err != nil {
		return Config{}, fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	c, err := fromFile(file)
	if err != nil {
		return Config{}, fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	return c, nil
}

// Kubeconfig returns the text of a kubeconfig with one cluster, user and context.
func Kubeconfig(c Config) ([]byte, error) {
	const name = "default"
	file := clientcmdapi.NewConfig()
	file.CurrentContext = name
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	cluster := &clientcmdapi.Cluster{Server: c.Server, TLSServerName: c.ServerName}
	cluster.CertificateAuthority, cluster.CertificateAuthorityData = c.Credentials.CA.File, []byte(c.Credentials.CA.Data)
	file.Clusters[name] = cluster
	user := &clientcmdapi.AuthInfo{TokenFile: c.Credentials.Token.File, Token: c.Credentials.Token.Data}
	user.ClientCertificate, user.ClientCertificateData = c.Credentials.Cert.File, []byte(c.Credentials.Cert.Data)
	user.ClientKey, user.ClientKeyData = c.Credentials.Key.File, []byte(c.Credentials.Key.Data)
	file.AuthInfos[name] = user
	return clientcmd.Write(*file)
}

func fromFile(file *clientcmdapi.Config) (Config, error) {
	name := file.CurrentContext
	if name == "" {
		return Config{}, errors.New("current-context is missing; name one of its contexts")
	}
	current, err := named("context", file.Contexts, name)
	if err != nil {
		return Config{}, err
	}
	cluster, err := named("cluster", file.Clusters, current.Cluster)
	if err != nil {
		return Config{}, err
	}
	user := &clientcmdapi.AuthInfo{}
	if current.AuthInfo != "" {
		if user, err = named("user", file.AuthInfos, current.AuthInfo); err != nil {
			return Config{}, err
		}
	}
	for _, refused := range []struct {
		said bool
		key  string
	}{
		{cluster.InsecureSkipTLSVerify, "insecure-skip-tls-verify of the cluster: name the authority of its certificate in certificate-authority"},
		{cluster.ProxyURL != "", "proxy-url of the cluster: set HTTPS_PROXY for the agent"},
		{user.Exec != nil, "exec of the user: write the credentials to a file and name it in tokenFile or client-certificate"},
		{user.AuthProvider != nil, "auth-provider of the user: name a file in tokenFile or client-certificate"},
		{user.Username != "" || user.Password != "", "username and password of the user: use a token or a client certificate"},
		{user.Impersonate != "", "as of the user: a node agent is itself"},
	} {
		if refused.said {
			return Config{}, fmt.Errorf("not supported: %s", refused.key)
		}
	}
	return Config{
		Server: cluster.Server, ServerName: cluster.TLSServerName,
		Credentials: Credentials{
			CA:    material(cluster.CertificateAuthority, string(cluster.CertificateAuthorityData)),
			Token: token(user),
			Cert:  material(user.ClientCertificate, string(user.ClientCertificateData)),
			Key:   material(user.ClientKey, string(user.ClientKeyData)),
		},
	}, nil
}

// named returns the entry of a kubeconfig with a name.
func named[T any](kind string, all map[string]*T, name string) (*T, error) {
	if entry := all[name]; entry != nil {
		return entry, nil
	}
	return nil, fmt.Errorf("no %s is named %q; there are: %s", kind, name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
}

// material prefers data in the kubeconfig to the file that it names, as client-go does. For a
// token, it is the reverse: the file is preferred, because it is renewed.
func material(file, data string) Material {
	if data != "" {
		return Material{Data: data}
	}
	return Material{File: file}
}

func token(user *clientcmdapi.AuthInfo) Material {
	if user.TokenFile != "" {
		return Material{File: user.TokenFile}
	}
	return Material{Data: user.Token}
}
