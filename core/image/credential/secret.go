package credential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Pods returns the credentials for the images of pods: those of the pull Secrets of a pod, and then
// those of the node.
type Pods struct {
	Node *Node
	// Secret returns a Secret of the pod's namespace. It is nil if there is no API server.
	Secret func(ctx context.Context, p *v1.Pod, name string) (*v1.Secret, error)
}

// For returns the credentials for an image of a pod, nil for none. The error says which sources
// failed; credentials of the others are returned with it.
func (c *Pods) For(ctx context.Context, p *v1.Pod, name string) (auths []pod.RegistryAuth, err error) {
	var failed []error
	if p != nil && c.Secret != nil {
		for _, named := range p.Spec.ImagePullSecrets {
			secret, err := c.Secret(ctx, p, named.Name)
			if err == nil {
				var own []pod.RegistryAuth
				own, err = OfSecret(secret, name)
				auths = append(auths, own...)
			}
			if err != nil {
				failed = append(failed, fmt.Errorf("imagePullSecrets: %w", err))
			}
		}
	}
	own, err := c.Node.For(ctx, name)
	return append(auths, own...), errors.Join(append(failed, err)...)
}

// OfSecret returns the credentials for the named image in a Secret of one of the types for
// registries.
func OfSecret(s *v1.Secret, name string) ([]pod.RegistryAuth, error) {
	repository, err := pod.ImageRepository(name)
	if err != nil {
		return nil, err
	}
	var keys keyring
	switch s.Type {
	case v1.SecretTypeDockerConfigJson:
		keys, err = parseRegistryConfig(s.Data[v1.DockerConfigJsonKey])
	case v1.SecretTypeDockercfg:
		var auths map[string]registryAuth
		if err = json.Unmarshal(s.Data[v1.DockerConfigKey], &auths); err != nil {
			err = fmt.Errorf("it is no registry configuration: %w", jsonFault(err))
			break
		}
		keys, err = keyringOf(auths)
	default:
		err = fmt.Errorf("it has type %s; want %s", s.Type, v1.SecretTypeDockerConfigJson)
	}
	if err != nil {
		return nil, fmt.Errorf("the Secret %s/%s cannot be used: %w", s.Namespace, s.Name, err)
	}
	return keys.lookup(repository), nil
}
