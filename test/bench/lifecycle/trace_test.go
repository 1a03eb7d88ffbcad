package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/fakecri"
	"github.com/wardlet/wardlet/test/privateruntime"
)

func TestATraceShowsCallsAndChangesNothing(t *testing.T) {
	t.Parallel()
	runtime := fakecri.Start(t)
	conn, err := privateruntime.Dial(runtime.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var out bytes.Buffer
	traced, err := startTracer(conn, &out)
	if err != nil {
		t.Fatal(err)
	}
	through, err := privateruntime.Dial(traced.endpoint())
	if err != nil {
		t.Fatal(err)
	}
	traced.mark("begin", time.Now())
	direct, err := criapi.NewRuntimeServiceClient(conn).Version(t.Context(), &criapi.VersionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := criapi.NewRuntimeServiceClient(through).Version(t.Context(), &criapi.VersionRequest{})
	if err != nil || got.String() != direct.String() {
		t.Errorf("%v, %v; want %v", got, err, direct)
	}
	if _, err := criapi.NewRuntimeServiceClient(through).StartContainer(t.Context(), &criapi.StartContainerRequest{ContainerId: "none"}); err == nil {
		t.Error("an error does not come through")
	}
	through.Close()
	if err := traced.stop(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--- begin\n", " Version\n", " StartContainer rpc error"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
