package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// decodeTree returns the documents of one parsed document.
func decodeTree(t tree, from DecodeFrom, id, version string) []api.Document {
	doc, err := object(t.json)
	if err != nil {
		return []api.Document{refuse(from, id, version, faults{{t.at(""), err}})}
	}
	kind, list, f := kindOfManifest(t, doc)
	if f != nil {
		return []api.Document{refuse(from, id, version, faults{*f})}
	}
	if !list {
		return []api.Document{decodePod(t, doc, from, id, version)}
	}
	if f := checkList(t, doc); f != nil {
		return []api.Document{refuse(from, id, version, f)}
	}
	return decodeItems(t, doc, id, func(t tree, item any, id string) api.Document {
		return decodeItem(t, item, kind == "PodList", from, id)
	})
}

// decodeItems returns the documents of a list.
func decodeItems(t tree, doc map[string]any, id string, decode func(t tree, item any, id string) api.Document) []api.Document {
	items, _ := doc["items"].([]any)
	docs := make([]api.Document, 0, len(items))
	for i, item := range items {
		sub := tree{root: t.root, above: t.above, path: fmt.Sprintf("items[%d]", i)}
		docs = append(docs, decode(sub, item, fmt.Sprintf("%s.%d", id, i)))
	}
	return docs
}

// decodeItem decodes one item of a list. In a PodList the item may lack apiVersion and kind.
func decodeItem(t tree, item any, implied bool, from DecodeFrom, id string) api.Document {
	var err error
	if t.json, err = json.Marshal(item); err != nil {
		return refuse(from, id, "", faults{{t.at(""), err}})
	}
	version := pod.Digest(t.json)
	doc, ok := item.(map[string]any)
	if !ok {
		return refuse(from, id, version, faults{{t.at(""), errors.New("an item of a list must be a pod")}})
	}
	said := doc
	if implied {
		said = maps.Clone(doc)
		setKey(said, "apiVersion", "v1")
		setKey(said, "kind", "Pod")
	}
	_, list, f := kindOfManifest(t, said)
	if list {
		f = &fault{t.at("kind"), errors.New("a list within a list is not supported")}
	}
	if f != nil {
		d := refuse(from, id, version, faults{*f})
		d.Claims = claimed(t.json, from.NodeName)
		return d
	}
	return decodePod(t, doc, from, id, version)
}

func setKey(m map[string]any, key, value string) {
	if m[key] == nil {
		m[key] = value
	}
}

// object decodes JSON and keeps its numbers as they are written.
func object(text []byte) (m map[string]any, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return m, dec.Decode(&m)
}

// versionAndKind reads apiVersion and kind. hint says which values are expected.
func versionAndKind(t tree, doc map[string]any, hint string) (version, kind string, f *fault) {
	for _, name := range []string{"apiVersion", "kind"} {
		switch v := doc[name].(type) {
		case nil:
			err := fmt.Errorf("%s is missing; %s", name, hint)
			for _, key := range slices.Sorted(maps.Keys(doc)) {
				if odd := lookalikeInKey(key); odd != "" {
					return "", "", &fault{t.at(key), fmt.Errorf("%w%s", err, odd)}
				}
				if key != name && strings.EqualFold(key, name) {
					return "", "", &fault{t.at(key), fmt.Errorf("%w, did you mean %s by %s?", err, name, key)}
				}
			}
			return "", "", &fault{t.at(""), err}
		case string:
		default:
			return "", "", &fault{t.at(name), fmt.Errorf("%s: expected a string, got %s", name, kindOf(v))}
		}
	}
	return doc["apiVersion"].(string), doc["kind"].(string), nil
}

// unknownKind returns the fault for an unknown kind.
func unknownKind(t tree, kind, want string, known ...string) *fault {
	err := fmt.Errorf("kind %q is not %s", kind, want)
	for _, one := range known {
		if strings.EqualFold(kind, one) {
			err = fmt.Errorf("kind %q is not known: capital and small letters count, write %s", kind, one)
		}
	}
	return &fault{t.at("kind"), fmt.Errorf("%w%s", err, lookalikeInKey(kind))}
}

// unknownVersion returns the fault for a wrong apiVersion of a kind.
func unknownVersion(t tree, version, kind, want string) *fault {
	return &fault{t.at("apiVersion"), fmt.Errorf("apiVersion %q of a %s is not supported; it is %s%s", version, kind, want, lookalikeInKey(version))}
}

// kindOfManifest reads apiVersion and kind, and refuses all but pods and
// lists of them.
func kindOfManifest(t tree, doc map[string]any) (kind string, list bool, f *fault) {
	version, kind, f := versionAndKind(t, doc, "a pod has apiVersion v1 and kind Pod")
	switch {
	case f != nil:
		return "", false, f
	case kind == "":
		return "", false, &fault{t.at("kind"), errors.New("kind is empty; a pod has kind Pod")}
	case kind != "Pod" && kind != "List" && kind != "PodList":
		return "", false, unknownKind(t, kind, "a Pod; a node runs nothing else", "Pod", "List", "PodList")
	case version != "v1":
		return "", false, unknownVersion(t, version, kind, "v1")
	}
	return kind, kind != "Pod", nil
}

func checkList(t tree, doc map[string]any) faults {
	c := newFieldCheck(t)
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		v := doc[name]
		switch name {
		case "apiVersion", "kind":
		case "metadata":
			c.value(v, reflect.TypeFor[metav1.ListMeta](), name, "", true)
			if meta, ok := v.(map[string]any); ok && (meta["continue"] != nil && meta["continue"] != "" || meta["remainingItemCount"] != nil) {
				c.add(name, "this is one page of a list only; ask for all of it")
			}
		case "items":
			if items, ok := v.([]any); v != nil && !ok {
				c.add(name, "expected a list, got %s", kindOf(v))
			} else if len(items) > maxDocuments {
				c.add(name, "more than %d", maxDocuments)
			}
		default:
			c.add(name, "unknown field of a list")
		}
	}
	if _, ok := doc["items"]; !ok && len(c.faults) == 0 {
		c.add("items", "missing; for an empty list write items: []")
	}
	return c.faults
}
