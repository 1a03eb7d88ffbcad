package describe

import (
	"testing"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	_ "k8s.io/kubectl/pkg/describe" // has describePod
	"k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/printers"
	"k8s.io/kubernetes/pkg/printers/internalversion"
)

// describePod is what kubectl describe pod prints.
//
//go:linkname describePod k8s.io/kubectl/pkg/describe.describePod
func describePod(p *v1.Pod, events *v1.EventList) (string, error)

// printPod returns the columns READY, STATUS and RESTARTS that an API server makes for kubectl get pods.
func printPod(t *testing.T, p *v1.Pod) [3]string {
	t.Helper()
	var internal core.Pod
	if err := corev1.Convert_v1_Pod_To_core_Pod(p.DeepCopy(), &internal, nil); err != nil {
		t.Fatal(err)
	}
	table, err := printers.NewTableGenerator().With(internalversion.AddHandlers).GenerateTable(&internal, printers.GenerateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cells := table.Rows[0].Cells
	return [3]string{cells[1].(string), cells[2].(string), cells[3].(string)}
}
