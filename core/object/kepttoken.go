package object

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/state"
)

// keptToken is the copy of a token on the disk. It is encrypted like a Secret.
type keptToken struct {
	Text  string    `json:"text"`
	Renew time.Time `json:"renew"`
	Until time.Time `json:"until"`
}

// tokensOf begins the keys of the copies of a pod's tokens.
func tokensOf(pod types.UID) string { return fmt.Sprintf("Token %s/", pod) }

// String returns the key of the copy on the disk.
func (k tokenKey) String() string {
	return fmt.Sprintf("%s%s/%s/%d", tokensOf(k.pod), k.account, k.audience, k.seconds)
}

// recallToken returns the token that an earlier agent stored, nil for none. The caller holds the lock.
func (p *Objects) recallToken(k tokenKey, now time.Time) *token {
	kept := p.kept[k.String()]
	if kept == nil {
		return nil
	}
	items, err := p.items(kept)
	var copied keptToken
	if err == nil && len(items) == 1 {
		err = json.Unmarshal(items[0], &copied)
	}
	if err != nil || copied.Text == "" {
		p.cfg.Logger.Warn("the copy of a service account's token cannot be read; another is requested", "token", k.String(), "err", err)
		delete(p.kept, k.String())
		return nil
	}
	t := &token{text: copied.Text, renew: copied.Renew, until: copied.Until}
	p.setToken(k, t, now)
	return t
}

// keepToken writes a token to the disk, if there is a key to encrypt it.
func (p *Objects) keepToken(k tokenKey, t *token) {
	if p.cfg.Disk == nil || p.cfg.Key == nil {
		return
	}
	p.keeping.Lock()
	defer p.keeping.Unlock()
	if !p.isCurrent(k, t) {
		return
	}
	text, err := json.Marshal([]keptToken{{t.text, t.renew, t.until}})
	record := &state.Object{Key: k.String(), Items: []json.RawMessage{}}
	if err == nil {
		record.Sealed = p.cfg.Key.seal(record.Key, text)
		err = p.cfg.Disk.Put(record)
	}
	if err != nil {
		p.cfg.Logger.Warn("a service account's token cannot be saved; after a restart of the agent the pod needs another one", "token", k.String(), "err", err)
		return
	}
	p.mu.Lock()
	current := p.tokens[k] == t
	if current {
		p.kept[record.Key] = record
	}
	p.mu.Unlock()
	if !current { // the pod has gone in the meantime
		p.deleteKept(record.Key)
	}
}

func (p *Objects) isCurrent(k tokenKey, t *token) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tokens[k] == t
}

// forgetTokens removes the copies of a pod's tokens, soon. The caller holds the lock.
func (p *Objects) forgetTokens(pod types.UID) {
	var gone []string
	for key := range p.kept {
		if strings.HasPrefix(key, tokensOf(pod)) {
			delete(p.kept, key)
			gone = append(gone, key)
		}
	}
	if len(gone) == 0 || p.ended {
		return
	}
	p.watches.Go(func() {
		p.keeping.Lock()
		defer p.keeping.Unlock()
		for _, key := range gone {
			p.deleteKept(key)
		}
	})
}
