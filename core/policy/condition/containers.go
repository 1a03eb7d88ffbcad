package condition

import (
	"reflect"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	corev1 "k8s.io/api/core/v1"
)

// functionContainers is the function that returns the containers of all kinds, so
// that a condition cannot forget one.
const functionContainers = "containers"

func (v *vocabulary) containersOption() (cel.EnvOption, error) {
	spec, err := v.structure(reflect.TypeFor[corev1.PodSpec]())
	if err != nil {
		return nil, err
	}
	element, err := v.reading(reflect.TypeFor[*corev1.Container]())
	if err != nil {
		return nil, err
	}
	return cel.Function(functionContainers, cel.Overload(overloadContainers,
		[]*cel.Type{spec.celType}, types.NewListType(element.celType),
		cel.UnaryBinding(func(value ref.Val) ref.Val {
			of, ok := value.Value().(*corev1.PodSpec)
			if !ok {
				return types.MaybeNoSuchOverloadErr(value)
			}
			return &list{vocabulary: v, items: reflect.ValueOf(allContainers(of)), element: element}
		}))), nil
}

// allContainers returns the containers of a pod, in the order of docs/abi.md.
func allContainers(spec *corev1.PodSpec) []*corev1.Container {
	all := make([]*corev1.Container, 0, countContainers(spec))
	for i := range spec.InitContainers {
		all = append(all, &spec.InitContainers[i])
	}
	for i := range spec.Containers {
		all = append(all, &spec.Containers[i])
	}
	for i := range spec.EphemeralContainers {
		all = append(all, (*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
	return all
}

func countContainers(spec *corev1.PodSpec) int {
	return len(spec.InitContainers) + len(spec.Containers) + len(spec.EphemeralContainers)
}
