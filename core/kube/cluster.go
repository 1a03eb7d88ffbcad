package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ClusterUID returns an ID of the server's cluster: the UID of the service "kubernetes" in the
// namespace default, which every API server stores and every node may read.
func (c *Client) ClusterUID(ctx context.Context) (types.UID, error) {
	text, err := c.Request(http.MethodGet, v1.SchemeGroupVersion).Namespace("default").Resource("services").Name("kubernetes").
		SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err != nil {
		return "", c.Explain(err)
	}
	var service struct {
		Metadata struct {
			UID types.UID `json:"uid"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(text, &service); err != nil {
		return "", c.Explain(fmt.Errorf("its service default/kubernetes: %w", err))
	}
	if service.Metadata.UID == "" {
		return "", c.Explain(errors.New("its service default/kubernetes has no UID"))
	}
	return service.Metadata.UID, nil
}
