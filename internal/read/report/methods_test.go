package report

import (
	"reflect"
	"regexp"
	"slices"
	"testing"
)

// Whatever a template names is a field, or a method that the templates may call: also in a
// branch that no other test comes through.
func TestEveryMethodOfTheTemplatesIsListed(t *testing.T) {
	var names []string
	for _, text := range []string{pageHTML, indexHTML, liveHTML, runsHTML} {
		for _, action := range regexp.MustCompile(`{{[^}]*}}`).FindAllString(text, -1) {
			for _, name := range regexp.MustCompile(`\.([A-Z]\w*)`).FindAllStringSubmatch(action, -1) {
				names = append(names, name[1])
			}
		}
	}
	seen, called := map[reflect.Type]bool{}, map[string]bool{}
	var visit func(reflect.Type)
	visit = func(of reflect.Type) {
		if of == nil || seen[of] {
			return
		}
		seen[of] = true
		for _, name := range names {
			method, ok := of.MethodByName(name)
			if !ok || method.Type.NumIn() != 1 || method.Type.NumOut() != 1 {
				continue
			}
			if of.Kind() == reflect.Struct {
				if _, field := of.FieldByName(name); field {
					continue
				}
			}
			visit(method.Type.Out(0))
			value := reflect.Zero(of)
			if of.Kind() == reflect.Pointer {
				value = reflect.New(of.Elem())
			}
			if called[name] = true; methods[name] == nil {
				t.Errorf("%s has a method %s, which templates may call and methods does not list", of, name)
			} else if _, ok := methods[name](value.Interface()); !ok {
				t.Errorf("method %s of %s is not of the kind that methods calls", name, of)
			}
		}
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			visit(of.Elem())
		case reflect.Struct:
			for i := range of.NumField() {
				if f := of.Field(i); f.Anonymous || slices.Contains(names, f.Name) {
					visit(f.Type)
				}
			}
		}
	}
	for _, root := range []any{filled{}, indexView{}, filledPart{}, LiveHead{}, RunsList{}, runsRow{}, RunPlace{}} {
		visit(reflect.TypeOf(root))
	}
	for name := range methods {
		if !called[name] {
			t.Errorf("methods lists %s, which no value of the templates has", name)
		}
	}
}
