package harness

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/BurntSushi/toml"
)

// Policy is the name of the node's one policy.
const Policy = "allowed-images"

// policy is the example policy that `make plugins` built.
type policy struct {
	document map[string]any
	// module is the plugin, and moduleName the file name that the document has for it.
	module     []byte
	moduleName string
}

// readPolicy reads the document and its module. It leaves out the tests in the document, because
// they are made for the document's original settings.
func readPolicy(dir string) (*policy, error) {
	p := &policy{}
	if _, err := toml.DecodeFile(filepath.Join(dir, Policy+".toml"), &p.document); err != nil {
		return nil, fmt.Errorf("read the policy: %w; run make plugins", err)
	}
	name, ok := p.document["module"].(string)
	if !ok || name != filepath.Base(name) {
		return nil, fmt.Errorf("%s in %s names no module beside it; run make plugins", Policy+".toml", dir)
	}
	p.moduleName = name
	var err error
	if p.module, err = os.ReadFile(filepath.Join(dir, name)); err != nil {
		return nil, fmt.Errorf("read the policy's plugin: %w; run make plugins", err)
	}
	delete(p.document, "test")
	return p, nil
}

// write writes the policy with these settings into a directory that an agent may be watching: first
// the module, unless it exists, then the document.
func (p *policy) write(dir string, allow []string) error {
	p.document["settings"] = map[string]any{"allow": allow}
	var text bytes.Buffer
	if err := toml.NewEncoder(&text).Encode(p.document); err != nil {
		return fmt.Errorf("write the policy: %w", err)
	}
	module := filepath.Join(dir, p.moduleName)
	if _, err := os.Stat(module); err != nil {
		if err := Replace(module, p.module); err != nil {
			return err
		}
	}
	return Replace(filepath.Join(dir, Policy+".toml"), text.Bytes())
}

// Replace writes a file by rename, so that no reader sees a part of it.
func Replace(path string, content []byte) error {
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
