package main

import (
	"fmt"
	"os"
	"reflect"

	v1 "k8s.io/api/core/v1"
)

func main() {
	text, err := shapes(reflect.TypeFor[v1.Pod]())
	if err == nil {
		_, err = os.Stdout.WriteString(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "podshape:", err)
		os.Exit(1)
	}
}
