package main

import (
	"reflect"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

var treePackage = reflect.TypeFor[tree.Select]().PkgPath()

// eachNode visits every node of a syntax tree with the name of its type, by reflection: the tree's own visitor knows
// expressions only.
func eachNode(root tree.NodeFormatter, visit func(kind string, node any)) {
	walk(reflect.ValueOf(root), visit)
}

func walk(value reflect.Value, visit func(kind string, node any)) {
	switch value.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !value.IsNil() {
			walk(value.Elem(), visit)
		}
	case reflect.Slice, reflect.Array:
		for index := range value.Len() {
			walk(value.Index(index), visit)
		}
	case reflect.Struct:
		walkStruct(value, visit)
	}
}

func walkStruct(value reflect.Value, visit func(kind string, node any)) {
	kind := value.Type()
	if kind.PkgPath() != treePackage {
		return
	}
	// A struct of a struct that was left empty is a part that the text does not have.
	if kind.Name() != "" && !(value.IsZero() && value.NumField() > 0) {
		visit(kind.Name(), nodeOf(value))
	}
	for index := range value.NumField() {
		if kind.Field(index).IsExported() {
			walk(value.Field(index), visit)
		}
	}
}

func nodeOf(value reflect.Value) any {
	if value.CanAddr() {
		return value.Addr().Interface()
	}
	return value.Interface()
}
