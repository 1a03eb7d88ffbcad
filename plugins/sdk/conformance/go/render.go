package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/merge"
)

// The fields that settings.show may name: fields that are in the record, and lazy fields.
var (
	fields = map[string]*sdk.Field{
		"object.metadata.name":                        sdk.Object("metadata.name"),
		"object.spec.nodeName":                        sdk.Object("spec.nodeName"),
		"object.spec.hostNetwork":                     sdk.Object("spec.hostNetwork"),
		"object.spec.priority":                        sdk.Object("spec.priority"),
		"object.spec.@containers[*].image":            sdk.Object("spec.@containers[*].image"),
		"object.spec.containers[*].ports[*].hostPort": sdk.Object("spec.containers[*].ports[*].hostPort"),
		"object.metadata.labels":                      sdk.Object("metadata.labels"),
		"object.spec.tolerations[0]":                  sdk.Object("spec.tolerations[0]"),
		"oldObject.metadata.uid":                      sdk.OldObject("metadata.uid"),
		"node.labels":                                 sdk.Node("labels"),
		"request.time":                                sdk.Request("time"),
		"request.changed":                             sdk.Request("changed"),
		"request.references[*].digest":                sdk.References("digest"),
		"candidates[*].running":                       sdk.Candidates("running"),
	}
	lazyFields = map[string]*sdk.Field{
		"object.metadata.namespace": sdk.Object("metadata.namespace").Lazy(),
		"object.spec.volumes":       sdk.Object("spec.volumes").Lazy(),
	}
)

// rendered returns the value that the settings name, as text.
func rendered() string {
	var out sdk.Text
	switch show := text("show"); text("from") {
	case "field":
		render(&out, fields[show].Value())
	case "lazy":
		render(&out, lazyFields[show].Value())
	case "setting":
		renderSetting(&out, show)
	}
	return out.String()
}

func render(out *sdk.Text, v sdk.Value) {
	switch v.Kind() {
	case sdk.KindMissing:
		out.Add("missing")
	case sdk.KindString:
		out.Add(v.String())
	case sdk.KindBool:
		renderBool(out, v.Bool())
	case sdk.KindInt:
		out.AddInt(v.Int())
	case sdk.KindList:
		mark := "["
		for element := range v.Elements() {
			out.Add(mark)
			render(out, element)
			mark = ","
		}
		closing(out, mark, "[", "]")
	case sdk.KindMap:
		mark := "{"
		for key, value := range v.Map() {
			out.Add(mark, key, "=", value)
			mark = ","
		}
		closing(out, mark, "{", "}")
	case sdk.KindJSON:
		out.Add(string(v.JSON()))
	}
}

// closing ends a list. If the list is empty, it has not begun yet, so closing begins it,
// too.
func closing(out *sdk.Text, mark, begin, end string) {
	if mark == begin {
		out.Add(begin)
	}
	out.Add(end)
}

func renderBool(out *sdk.Text, b bool) {
	if b {
		out.Add("true")
	} else {
		out.Add("false")
	}
}

// renderSetting reads a setting as the type in settings.kind.
func renderSetting(out *sdk.Text, path string) {
	there := false
	switch text("kind") {
	case "string":
		var value string
		value, there = sdk.StringSetting(path)
		out.Add(value)
	case "bool":
		var value bool
		if value, there = sdk.BoolSetting(path); there {
			renderBool(out, value)
		}
	case "integer":
		var value int64
		if value, there = sdk.IntSetting(path); there {
			out.AddInt(value)
		}
	case "strings":
		var values []string
		values, there = sdk.StringsSetting(path)
		mark := "["
		for _, value := range values {
			out.Add(mark, value)
			mark = ","
		}
		if there {
			closing(out, mark, "[", "]")
		}
	case "map":
		there = renderMap(out, path)
	}
	if !there {
		out.Add("missing")
	}
}

// renderMap writes a table of strings, sorted by key.
func renderMap(out *sdk.Text, path string) (there bool) {
	values, there := sdk.MapSetting(path)
	mark := "{"
	for len(values) > 0 {
		first := ""
		for key := range values {
			if first == "" || key < first {
				first = key
			}
		}
		out.Add(mark, first, "=", values[first])
		delete(values, first)
		mark = ","
	}
	if there {
		closing(out, mark, "{", "}")
	}
	return there
}

// firstCandidate is the number of the first candidate among the documents.
const firstCandidate = 16

// document returns a whole document as JSON, or "none".
func document() string {
	var json []byte
	switch n := number("document"); n {
	case 0:
		json = sdk.RequestJSON()
	case 1:
		json = sdk.ObjectJSON()
	case 2:
		json = sdk.OldObjectJSON()
	case 3:
		json = sdk.NodeJSON()
	default:
		json = merge.JSON(int(n) - firstCandidate)
	}
	if json == nil {
		return "none"
	}
	return string(json)
}
