// Command conformance is the conformance guest of the Go SDK: settings.behaviour says what
// it does. The README of the folder above describes all behaviours. The WAT module with the
// name of a behaviour does the same.
package main

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/connect"
	"github.com/wardlet/wardlet/plugins/sdk/filter"
	"github.com/wardlet/wardlet/plugins/sdk/merge"
	"github.com/wardlet/wardlet/plugins/sdk/validate"
)

func init() {
	validate.Settings(func() error { return refuse("validate") })
	admit.Register(func() (admit.Policy, error) { return judge, refuse("init") })
	merge.Register(func() (merge.Policy, error) { return choose, nil })
	filter.Register(func() (filter.Policy, error) { return sift, nil })
	connect.Register(func() (connect.Policy, error) { return decide, nil })
}

// refuse refuses the settings if they say so. at is the calling function: "validate" or
// "init".
func refuse(at string) error {
	if text("behaviour") != "refuse" || text("at") != at {
		return nil
	}
	return errors.New(text("message"))
}

// text returns a setting that is a string, empty if it is not set.
func text(name string) string {
	value, _ := sdk.StringSetting(name)
	return value
}

func judge() admit.Verdict {
	switch text("behaviour") {
	case "answer":
		return answerAdmit()
	case "texts":
		hand()
	case "log":
		log()
	case "document":
		admit.Explain(document())
	case "render":
		admit.Explain(rendered())
	}
	return admit.Allow()
}

func choose() merge.Verdict {
	switch text("behaviour") {
	case "answer":
		return answerMerge()
	case "document":
		merge.Explain(document())
	case "render":
		merge.Explain(rendered())
	}
	return merge.Win(0)
}

func sift() filter.Verdict {
	switch text("behaviour") {
	case "answer":
		return answerFilter()
	case "render":
		filter.Explain(rendered())
	}
	return filter.Pass()
}

func decide() connect.Verdict {
	switch text("behaviour") {
	case "answer":
		return answerConnect()
	case "document":
		connect.Explain(document())
	case "render":
		connect.Explain(rendered())
	}
	return connect.Allow()
}

func main() {}
