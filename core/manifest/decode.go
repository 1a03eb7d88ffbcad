package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/charset"
	"github.com/wardlet/wardlet/core/pod"
)

// MaxManifest is the greatest size of a file or an answer, in bytes.
const MaxManifest = 10 << 20

// maxDocuments is the greatest number of documents of a manifest, and of items
// of a list; no node runs as many pods.
const maxDocuments = 1000

// DecodeFrom says where the bytes of a manifest come from.
type DecodeFrom struct {
	// Source is the source's name in agent.toml.
	Source string
	// Kind is api.KindFile or api.KindHTTP.
	Kind string
	// File is the path or URL.
	File string
	// NodeName is this node's name. It is never empty.
	NodeName string
	// Namespaces are the names and patterns (MatchNamespace) of the namespaces
	// that documents may be in; none means all.
	Namespaces []string
}

// Decode reads all pods of a manifest: YAML or JSON, one document or several,
// each a Pod, a PodList or a List of Pods. The answer has one Document per
// pod and one per fault, in the order of the text, the one that holds the
// file (api.HoldSuffix) last.
//
// IDs are "file#index", and "file#index.item" for the items of a list. The
// index counts the documents of the YAML stream from 0: the text before the
// first "---" is a document only if something stands in it, and what follows
// a "---" is one even if it is empty or all comment. So a licence header
// moves nothing, and neither does commenting a document out. Versions are the
// SHA-256 of the document's bytes, or of the item's canonical JSON, in hex.
//
// A manifest of comments only holds no pods. One without any text at all is a
// fault that holds the file: a write that broke off looks like that.
func Decode(data []byte, from DecodeFrom) []api.Document {
	return decode(data, from, reader{"pods", decodeTree})
}

// reader reads manifests of one sort.
type reader struct {
	// noun is what a manifest holds.
	noun string
	// documents makes the documents of one parsed document of YAML.
	documents func(t tree, from DecodeFrom, id, version string) []api.Document
}

func decode(data []byte, from DecodeFrom, with reader) []api.Document {
	if len(data) > MaxManifest {
		return []api.Document{HoldFile(from, 0, fmt.Errorf("larger than %d bytes; split it", MaxManifest))}
	}
	if len(bytes.Trim(data, "\ufeff\x00 \t\r\n")) == 0 {
		return []api.Document{HoldFile(from, 0, fmt.Errorf("the manifest is empty; remove it to end its %s", with.noun))}
	}
	if name := charset.Of(data); name != "" {
		return []api.Document{HoldFile(from, 1, fmt.Errorf("the manifest is in %s; save it as UTF-8", name))}
	}
	var docs []api.Document
	chunks := split(data)
	if len(chunks) > maxDocuments {
		return []api.Document{HoldFile(from, chunks[maxDocuments].above+1, fmt.Errorf("more than %d documents", maxDocuments))}
	}
	// Aliases and lists multiply in every document anew; what they make of the
	// whole manifest is what it costs.
	left := budget{bytes: maxExpanded, documents: maxDocuments}
	for _, c := range chunks {
		id := fmt.Sprintf("%s#%d", from.File, c.index)
		t, fault := parse(c)
		if fault == nil {
			if fault = left.spend(&t); fault != nil {
				return []api.Document{HoldFile(from, fault.line, fault.err)}
			}
		}
		if fault != nil {
			docs = append(docs, refuse(from, id, pod.Digest(c.text), faults{*fault}))
			continue
		}
		docs = append(docs, with.documents(t, from, id, pod.Digest(c.text))...)
	}
	for _, d := range slices.Backward(docs) {
		if d.Err != nil && d.Claims.Name == "" {
			return append(docs, HoldFile(from, d.Err.Line, fmt.Errorf(
				"which %s the %s holds is uncertain; those it held before go on until this is mended", with.noun, from.noun())))
		}
	}
	return docs
}

// noun says what a manifest comes as.
func (f *DecodeFrom) noun() string {
	if f.Kind == api.KindHTTP {
		return "answer"
	}
	return "file"
}

// budget is what is left for the rest of a manifest.
type budget struct{ bytes, documents int }

// spend takes from the budget what a document becomes, and refuses the manifest
// when that is too much.
func (b *budget) spend(t *tree) *fault {
	b.bytes -= t.size
	if t.items <= maxDocuments { // else the list is refused as a whole
		b.documents -= max(t.items, 1)
	}
	switch {
	case b.bytes < 0:
		return &fault{t.at(""), fmt.Errorf("the manifest is larger than %d bytes once its aliases are resolved; split it", maxExpanded)}
	case b.documents < 0:
		return &fault{t.at(""), fmt.Errorf("the manifest has more than %d documents and items of lists; split it", maxDocuments)}
	}
	return nil
}

// HoldFile is the bad document that stands for a whole file.
func HoldFile(from DecodeFrom, line int, err error) api.Document {
	return api.Document{
		Source: from.Source,
		ID:     from.File + api.HoldSuffix,
		Err:    &api.DocumentError{File: from.File, Line: line, Err: err},
	}
}

func refuse(from DecodeFrom, id, version string, f faults) api.Document {
	line, err := f.first()
	return api.Document{
		Source: from.Source, ID: id, Version: version,
		Err: &api.DocumentError{File: from.File, Line: line, Err: err},
	}
}

// fault is one thing wrong with a document, and its line in the file.
type fault struct {
	line int
	err  error
}

type faults []fault

// first is the line of the topmost fault, and an error of all.
func (f faults) first() (line int, err error) {
	slices.SortStableFunc(f, func(a, b fault) int { return cmp.Compare(a.line, b.line) })
	if len(f) == 1 {
		return f[0].line, f[0].err
	}
	all := &api.Faults{}
	for _, one := range f {
		all.All = append(all.All, api.Fault{Line: one.line, Err: one.err})
	}
	return f[0].line, all
}

// Silent reports whether a manifest says nothing: it is empty, or has comments
// and separators only. Decode finds no document in it, as it does in a list
// without items, which says that there are no pods.
func Silent(data []byte) bool {
	return len(bytes.Trim(data, "\x00 \t\r\n")) == 0 || len(split(data)) == 0
}

// claimed is the identity of the pod that a document with faults would be, zero
// where it does not name one that there can be.
func claimed(text []byte, node string) types.NamespacedName {
	var said struct {
		Metadata struct {
			Name        string         `json:"name"`
			Namespace   string         `json:"namespace"`
			Annotations map[string]any `json:"annotations"`
		} `json:"metadata"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &said); err != nil || said.Metadata.Name == "" {
		return types.NamespacedName{}
	}
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: said.Metadata.Name, Namespace: said.Metadata.Namespace}}
	if mark, ok := said.Metadata.Annotations[pod.AnnotationIdentity]; ok {
		identity, _ := mark.(string)
		if len(apivalidation.NameIsDNSSubdomain(identity, false)) > 0 {
			return types.NamespacedName{}
		}
		p.Annotations = map[string]string{pod.AnnotationIdentity: identity}
	}
	place(p, node)
	if len(apivalidation.NameIsDNSSubdomain(p.Name, false)) > 0 || len(apivalidation.ValidateNamespaceName(p.Namespace, false)) > 0 {
		return types.NamespacedName{}
	}
	return pod.Identity(p)
}

// place sets the name and namespace that a pod has on this node.
func place(p *v1.Pod, node string) {
	p.Name += "-" + strings.ToLower(node)
	if p.Namespace == "" {
		p.Namespace = metav1.NamespaceDefault
	}
}

// decodePod takes one pod from values to a pod that can be run.
func decodePod(t tree, doc map[string]any, from DecodeFrom, id, version string) api.Document {
	bad := func(f faults) api.Document {
		d := refuse(from, id, version, f)
		d.Claims = claimed(t.json, from.NodeName)
		return d
	}
	c := newFieldCheck(t)
	c.static = true
	c.fields(doc, reflect.TypeFor[v1.Pod](), "", "", false)
	if len(c.faults) > 0 {
		return bad(c.faults)
	}
	p := new(v1.Pod)
	if strict, err := kjson.UnmarshalStrict(t.json, p); err != nil || len(strict) > 0 {
		return bad(faults{{t.at(""), errors.Join(append(strict, err)...)}})
	}
	p.CreationTimestamp = metav1.Time{}
	p.Status = v1.PodStatus{}

	written := p.Name
	errs := append(validateWritten(p, from.NodeName), validateNamespace(p, from.Namespaces)...)
	if len(errs) == 0 {
		stamp(p, from)
		uid, err := deriveUID(doc, from.Source, pod.Identity(p), from.NodeName)
		if err != nil {
			return bad(faults{{t.at(""), err}})
		}
		p.Annotations[pod.AnnotationHash] = string(uid)
		if p.UID == "" {
			p.UID = uid
		}
		setDefaults(p)
		errs = append(resolvePriority(&p.Spec), validate(p)...)
		errs = append(errs, validatePlacement(&p.Spec)...)
		errs = append(errs, validateHostSysctls(&p.Spec)...)
		aboutWritten(errs, written, p.Name)
	}
	if len(errs) > 0 {
		return bad(fieldFaults(t, errs))
	}
	return api.Document{Source: from.Source, ID: id, Version: version, Pod: p}
}
