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

// MaxManifest is the greatest size of a manifest file or an HTTP answer, in bytes.
const MaxManifest = 10 << 20

// maxDocuments is the greatest number of documents of a manifest, and of items of a list. No node
// runs that many pods.
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
	// Namespaces are the names and patterns (MatchNamespace) of the namespaces that documents may
	// have; empty means all.
	Namespaces []string
}

// Decode reads all pods of a manifest: YAML or JSON, one document or several, each a Pod, a PodList
// or a List of Pods. It returns one Document per pod and one per fault, in the order of the text.
// The document that holds the file (api.HoldSuffix) comes last.
//
// IDs are "file#index", and "file#index.item" for the items of a list. The index counts the
// documents of the YAML stream from 0. The text before the first "---" is a document only if it has
// content. The text after a "---" is a document even if it is empty or has only comments. So a
// licence header changes no index, and neither does commenting out a document. Versions are the
// SHA-256 of the document's bytes, or of the item's canonical JSON, in hex.
//
// A manifest of comments only has no pods. A manifest without any text is a fault that holds the
// file, because an interrupted write looks like that.
func Decode(data []byte, from DecodeFrom) []api.Document {
	return decode(data, from, reader{"pods", decodeTree})
}

// reader reads manifests of one kind.
type reader struct {
	// noun names the contents of a manifest, for messages.
	noun string
	// documents returns the documents of one parsed YAML document.
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
	// Aliases and lists multiply in every document. The limit is for the whole manifest after they
	// are expanded.
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

// noun returns the word for the origin of a manifest.
func (f *DecodeFrom) noun() string {
	if f.Kind == api.KindHTTP {
		return "answer"
	}
	return "file"
}

// budget is the size and the number of documents that the rest of a manifest may have.
type budget struct{ bytes, documents int }

// spend subtracts a document from the budget, and returns a fault if the manifest is too large.
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

// HoldFile returns the bad document that holds a whole file.
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

// fault is one error in a document, and its line in the file.
type fault struct {
	line int
	err  error
}

type faults []fault

// first returns the line of the topmost fault, and an error of all faults.
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

// Silent reports whether a manifest is empty, or has only comments and separators. Decode returns
// no document for a manifest of comments, as for an empty list; but an empty list says explicitly
// that there are no pods.
func Silent(data []byte) bool {
	return len(bytes.Trim(data, "\x00 \t\r\n")) == 0 || len(split(data)) == 0
}

// claimed returns the identity of the pod that a document with faults names, zero if it names no
// valid one.
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

// decodePod decodes one pod, stamps it, sets the defaults and validates it.
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
