package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Compact makes etcd delete all revisions except the current one, which it returns.
func (p *Cluster) Compact(ctx context.Context) (revision string, err error) {
	if revision, err = p.revision(ctx); err != nil {
		return "", err
	}
	return revision, p.ask(ctx, "/v3/kv/compaction", map[string]any{"revision": revision, "physical": true}, nil)
}

// revision returns etcd's current revision, which is also a resourceVersion.
func (p *Cluster) revision(ctx context.Context) (string, error) {
	var answer struct {
		Header struct {
			Revision string `json:"revision"`
		} `json:"header"`
	}
	err := p.ask(ctx, "/v3/kv/range", map[string]any{"key": "AA=="}, &answer)
	return answer.Header.Revision, err
}

// ask sends a request to etcd's JSON interface.
func (p *Cluster) ask(ctx context.Context, path string, question, answer any) error {
	text, err := json.Marshal(question)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.etcdURL()+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd answers %s: %s", response.Status, body)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(body, answer)
}
