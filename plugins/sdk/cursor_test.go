package sdk_test

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

func TestCursorsGoThroughListsSideBySide(t *testing.T) {
	var got []string
	allowed(t, judge(t, web, func() {
		got = nil
		name, image, ports := names.Cursor(), lazyImages.Cursor(), volumes.Cursor()
		for n, ok := name.Next(); ok; n, ok = name.Next() {
			got = append(got, n.String()+"="+image.Take().String())
		}
		for _, c := range []*sdk.Cursor{&name, &image, &ports} {
			if rest, ok := c.Next(); ok || rest.Exists() {
				t.Errorf("there is more: %q", rest.String())
			}
		}
	}))
	if joined := strings.Join(got, " "); joined != "init=i a=x b=" {
		t.Errorf("got %q", joined)
	}
}

func TestACursorWithoutElementsToTakeFailsTheCall(t *testing.T) {
	for what, test := range map[string]struct {
		do   func()
		want string
	}{
		"beyond the last": {func() {
			c := names.Cursor()
			for range 4 {
				c.Take()
			}
		}, "field object.spec.@containers[*].name is a shorter list than those beside it"},
		"no list": {func() {
			c := name.Cursor()
			c.Next()
		}, "field object.metadata.name is read as a list, but it is a string"},
	} {
		got := judge(t, web, test.do)
		if got.Answer != sdktest.Failed || !strings.Contains(got.Message, test.want) {
			t.Errorf("%s: got %+v, want %q", what, got, test.want)
		}
	}
}
