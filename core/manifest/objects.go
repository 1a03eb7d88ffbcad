package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	v1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// maxObject is the greatest size of the data of a ConfigMap or Secret, in bytes, as in an API
// server.
const maxObject = v1.MaxSecretSize

// objectKind is a kind of object that pods can name.
type objectKind struct {
	version, kind string
	of            reflect.Type
	// namespaced is false for objects of the whole node.
	namespaced bool
	validate   func(object metav1.Object) field.ErrorList
}

var objectKinds = []objectKind{
	{"v1", "ConfigMap", reflect.TypeFor[v1.ConfigMap](), true, func(o metav1.Object) field.ErrorList { return validateConfigMap(o.(*v1.ConfigMap)) }},
	{"v1", "Secret", reflect.TypeFor[v1.Secret](), true, func(o metav1.Object) field.ErrorList { return completeSecret(o.(*v1.Secret)) }},
	{"node.k8s.io/v1", "RuntimeClass", reflect.TypeFor[nodev1.RuntimeClass](), false, func(o metav1.Object) field.ErrorList { return validateRuntimeClass(o.(*nodev1.RuntimeClass)) }},
}

const objectHint = "a ConfigMap and a Secret have apiVersion v1, a RuntimeClass has node.k8s.io/v1"

// DecodeObjects reads the objects of a manifest that pods can name: ConfigMaps, Secrets and
// RuntimeClasses, or Lists of them. IDs, and documents for faults, are the same as those of Decode.
// Each valid document has an Object. No fault quotes a value of an object.
func DecodeObjects(data []byte, from DecodeFrom) []api.Document {
	return decode(data, from, reader{"objects", decodeObjectTree})
}

// decodeObjectTree returns the documents of one parsed document.
func decodeObjectTree(t tree, from DecodeFrom, id, version string) []api.Document {
	doc, err := object(t.json)
	if err != nil {
		return []api.Document{refuse(from, id, version, faults{{t.at(""), err}})}
	}
	kind, f := kindOfObject(t, doc)
	switch {
	case f != nil:
		return []api.Document{refuseObject(t, from, id, version, faults{*f})}
	case kind != nil:
		return []api.Document{decodeObject(t, doc, kind, from, id, version)}
	}
	if f := checkList(t, doc); f != nil {
		return []api.Document{refuse(from, id, version, f)}
	}
	return decodeItems(t, doc, id, func(t tree, item any, id string) api.Document { return decodeObjectItem(t, item, from, id) })
}

// decodeObjectItem reads one item of a list.
func decodeObjectItem(t tree, item any, from DecodeFrom, id string) api.Document {
	var err error
	if t.json, err = json.Marshal(item); err != nil {
		return refuse(from, id, "", faults{{t.at(""), err}})
	}
	version := pod.Digest(t.json)
	doc, ok := item.(map[string]any)
	if !ok {
		return refuse(from, id, version, faults{{t.at(""), errors.New("an item of a list must be an object")}})
	}
	kind, f := kindOfObject(t, doc)
	if f == nil && kind == nil {
		f = &fault{t.at("kind"), errors.New("a list within a list is not supported")}
	}
	if f != nil {
		return refuseObject(t, from, id, version, faults{*f})
	}
	return decodeObject(t, doc, kind, from, id, version)
}

// kindOfObject returns the kind of a document, nil for a list.
func kindOfObject(t tree, doc map[string]any) (*objectKind, *fault) {
	version, kind, f := versionAndKind(t, doc, objectHint)
	if f != nil {
		return nil, f
	}
	want := "v1"
	at := slices.IndexFunc(objectKinds, func(k objectKind) bool { return k.kind == kind })
	switch {
	case at >= 0:
		want = objectKinds[at].version
	case kind != "List":
		return nil, unknownKind(t, kind, "one of ConfigMap, Secret and RuntimeClass; pods on this node name no other objects", "ConfigMap", "Secret", "RuntimeClass", "List")
	}
	switch {
	case version != want:
		return nil, unknownVersion(t, version, kind, want)
	case at < 0:
		return nil, nil
	}
	return &objectKinds[at], nil
}

// decodeObject reads one object.
func decodeObject(t tree, doc map[string]any, kind *objectKind, from DecodeFrom, id, version string) api.Document {
	c := newFieldCheck(t)
	c.fields(doc, kind.of, "", "", true)
	if len(c.faults) > 0 {
		return refuseObject(t, from, id, version, c.faults)
	}
	read := reflect.New(kind.of).Interface().(metav1.Object)
	if strict, err := kjson.UnmarshalStrict(t.json, read); err != nil || len(strict) > 0 {
		return refuseObject(t, from, id, version, faults{{t.at(""), errors.Join(append(strict, err)...)}})
	}
	own := metav1.ObjectMeta{Name: read.GetName(), Namespace: read.GetNamespace(), Labels: read.GetLabels(), Annotations: read.GetAnnotations()}
	if kind.namespaced && own.Namespace == "" {
		own.Namespace = metav1.NamespaceDefault
	}
	errs := apivalidation.ValidateObjectMeta(&own, kind.namespaced, apivalidation.NameIsDNSSubdomain, metadataPath)
	if errs = append(errs, kind.validate(read)...); len(errs) > 0 {
		return refuseObject(t, from, id, version, fieldFaults(t, errs))
	}
	*metaOf(read) = own
	text, err := json.Marshal(read)
	if err != nil {
		return refuseObject(t, from, id, version, faults{{t.at(""), err}})
	}
	metaOf(read).ResourceVersion = pod.Digest(text)
	return api.Document{Source: from.Source, ID: id, Version: version, Object: read}
}

func metaOf(object metav1.Object) *metav1.ObjectMeta {
	switch object := object.(type) {
	case *v1.ConfigMap:
		return &object.ObjectMeta
	case *v1.Secret:
		return &object.ObjectMeta
	default:
		return &object.(*nodev1.RuntimeClass).ObjectMeta
	}
}

// refuseObject returns the bad document of an object, with the object's name if it has one.
func refuseObject(t tree, from DecodeFrom, id, version string, f faults) api.Document {
	d := refuse(from, id, version, f)
	var said struct {
		Metadata struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(t.json, &said); err == nil && said.Metadata.Name != "" {
		d.Claims = types.NamespacedName{Namespace: said.Metadata.Namespace, Name: said.Metadata.Name}
		if d.Claims.Namespace == "" {
			d.Claims.Namespace = metav1.NamespaceDefault
		}
	}
	return d
}

var (
	dataPath       = field.NewPath("data")
	binaryDataPath = field.NewPath("binaryData")
)

func validateConfigMap(m *v1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	size := 0
	for key, value := range m.Data {
		errs = append(errs, validateKey(dataPath, key)...)
		size += len(value)
	}
	for key, value := range m.BinaryData {
		errs = append(errs, validateKey(binaryDataPath, key)...)
		size += len(value)
		if _, twice := m.Data[key]; twice {
			errs = append(errs, field.Forbidden(binaryDataPath.Key(key), "the key stands in data already"))
		}
	}
	return append(errs, validateSize(size)...)
}

// keysOfTypes are the keys that a Secret of each type must have.
var keysOfTypes = map[v1.SecretType][]string{
	v1.SecretTypeDockerConfigJson: {v1.DockerConfigJsonKey},
	v1.SecretTypeDockercfg:        {v1.DockerConfigKey},
	v1.SecretTypeSSHAuth:          {v1.SSHAuthPrivateKey},
	v1.SecretTypeTLS:              {v1.TLSCertKey, v1.TLSPrivateKeyKey},
}

// completeSecret validates a Secret, and moves its stringData into its data.
func completeSecret(s *v1.Secret) field.ErrorList {
	var errs field.ErrorList
	if s.Type == "" {
		s.Type = v1.SecretTypeOpaque
	}
	for key := range s.Data {
		errs = append(errs, validateKey(dataPath, key)...)
	}
	for key, value := range s.StringData {
		errs = append(errs, validateKey(field.NewPath("stringData"), key)...)
		if s.Data == nil {
			s.Data = map[string][]byte{}
		}
		s.Data[key] = []byte(value)
	}
	s.StringData = nil
	size := 0
	for _, value := range s.Data {
		size += len(value)
	}
	for _, key := range keysOfTypes[s.Type] {
		value, ok := s.Data[key]
		switch {
		case !ok:
			errs = append(errs, field.Required(dataPath.Key(key), fmt.Sprintf("a Secret of type %s has it", s.Type)))
		case (s.Type == v1.SecretTypeDockerConfigJson || s.Type == v1.SecretTypeDockercfg) && !json.Valid(value):
			errs = append(errs, field.Invalid(dataPath.Key(key), field.OmitValueType{}, "not JSON"))
		}
	}
	return append(errs, validateSize(size)...)
}

func validateKey(at *field.Path, key string) field.ErrorList {
	return invalid(at.Key(key), key, validation.IsConfigMapKey(key))
}

func validateSize(size int) field.ErrorList {
	if size > maxObject {
		return field.ErrorList{field.TooLong(dataPath, "", maxObject)}
	}
	return nil
}

// validateRuntimeClass refuses fields that act on pods before they come to a node: only an API
// server's admission and a scheduler use them.
func validateRuntimeClass(c *nodev1.RuntimeClass) field.ErrorList {
	errs := invalid(field.NewPath("handler"), c.Handler, validation.IsDNS1123Label(c.Handler))
	if c.Overhead != nil {
		errs = append(errs, field.Forbidden(field.NewPath("overhead"), "this version sets no overhead on pods; leave it out"))
	}
	if c.Scheduling != nil {
		errs = append(errs, field.Forbidden(field.NewPath("scheduling"), "only a scheduler reads it; leave it out"))
	}
	return errs
}
