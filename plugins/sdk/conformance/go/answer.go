package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/connect"
	"github.com/wardlet/wardlet/plugins/sdk/filter"
	"github.com/wardlet/wardlet/plugins/sdk/merge"
)

// number returns a setting that is an integer, 0 if it is not set.
func number(name string) int64 {
	value, _ := sdk.IntSetting(name)
	return value
}

func answerAdmit() admit.Verdict {
	if patch := text("patch"); patch != "" {
		admit.PatchJSON([]byte(patch))
	}
	switch number("answer") {
	case 0:
		return admit.Allow()
	case 1:
		return admit.Deny(text("code"), text("message"))
	case 2:
		return admit.Hold(text("code"), text("message")).RetryAfter(sdk.Duration(number("retry")))
	case 3:
		return admit.Abstain()
	}
	return admit.Fail(text("message"))
}

func answerMerge() merge.Verdict {
	if patch := text("patch"); patch != "" {
		merge.PatchJSON([]byte(patch))
	}
	switch answer := number("answer"); {
	case answer >= 0:
		return merge.Win(int(answer))
	case answer == -1:
		return merge.KeepCurrent()
	case answer == -2:
		return merge.RejectAll(text("code"), text("message"))
	case answer == -3:
		return merge.Abstain()
	}
	return merge.Fail(text("message"))
}

func answerFilter() filter.Verdict {
	switch number("answer") {
	case 0:
		return filter.Pass()
	case 1:
		return filter.Drop().Because(text("code"), text("message"))
	case 2:
		return filter.Defer(sdk.Duration(number("retry"))).Because(text("code"), text("message"))
	case 3:
		return filter.Abstain()
	}
	return filter.Fail(text("message"))
}

func answerConnect() connect.Verdict {
	switch number("answer") {
	case 0:
		return connect.Allow()
	case 1:
		return connect.Deny(text("code"), text("message"))
	case 3:
		return connect.Abstain()
	}
	return connect.Fail(text("message"))
}

// hand hands over the texts that the settings name.
func hand() {
	warnings, _ := sdk.StringsSetting("warnings")
	for _, warning := range warnings {
		admit.Warn(warning)
	}
	annotations, _ := sdk.MapSetting("annotations")
	for key, value := range annotations {
		admit.Annotate(key, value)
	}
	if explanation, ok := sdk.StringSetting("explanation"); ok {
		admit.Explain(explanation)
	}
}

// log writes a line at the level that the settings name.
func log() {
	level := sdk.Level(number("level"))
	if !sdk.Log.Enabled(level) {
		return
	}
	write := [...]func(sdk.Logger, string){sdk.Logger.Debug, sdk.Logger.Info, sdk.Logger.Warn, sdk.Logger.Error}
	write[level](sdk.Log, text("line"))
}
