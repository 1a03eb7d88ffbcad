package main

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

func TestTheCommittedShapeIsThatOfTheAPI(t *testing.T) {
	const file = "../../../plugins/sdk/sdktest/internal/shape/pod.txt"
	committed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := shapes(reflect.TypeFor[v1.Pod]())
	if err != nil {
		t.Fatal(err)
	}
	if text != string(committed) {
		t.Errorf("%s is not what the API says; run: go run ./tools/plugins/podshape > %s", file, strings.TrimPrefix(file, "../../../"))
	}
}

type inner struct {
	B string `json:"b,omitempty"`
}

type nested struct {
	inner
	C []*int32          `json:"c"`
	D map[string]string `json:"d,omitempty,omitzero"`
	E nestedOther       `json:"e"`
}

type nestedOther struct {
	Again *nestedOther `json:"again,omitempty"`
}

func TestShapesHaveTheFieldsInOrder(t *testing.T) {
	got, err := shapes(reflect.TypeFor[nested]())
	want := "nested\n\tb string omitempty\n\tc []*int32\n\td map:string omitempty,omitzero\n\te nestedOther\n" +
		"nestedOther\n\tagain *nestedOther omitempty\n"
	if err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
}

type label string

func TestTypesThatHaveNoNotationAreErrors(t *testing.T) {
	for of, want := range map[reflect.Type]string{
		reflect.TypeFor[struct {
			A float64 `json:"a"`
		}](): "a type of kind float64 is not supported",
		reflect.TypeFor[struct {
			A any `json:"a"`
		}](): "a type of kind interface is not supported",
		reflect.TypeFor[struct{ A string }](): "A has no json name",
		reflect.TypeFor[map[int]string]():     "maps by int are not supported",
		reflect.TypeFor[map[string]label]():   "no map[string]string",
		reflect.TypeFor[map[label]string]():   "no map[string]string",
		reflect.TypeFor[time.Time]():          "writes itself to JSON",
	} {
		if got, err := shapes(of); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %s, %v, want %q", of, got, err, want)
		}
	}
}
