package report

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// webTypes is what web/ knows of the page.
const webTypes = "../../../web/src/page.ts"

// TestTheBrowserKnowsThePagesTypes holds the types of web/ to those of this
// package; -update writes them.
func TestTheBrowserKnowsThePagesTypes(t *testing.T) {
	want := []byte(typescript(reflect.TypeFor[drawn](), reflect.TypeFor[Account]()))
	if *update {
		if err := os.WriteFile(webTypes, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(webTypes)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types of this package say; run make golden", webTypes)
	}
}

// typescript writes structs and all that they hold as interfaces of TypeScript.
func typescript(roots ...reflect.Type) string {
	w := tsWriter{known: map[string]reflect.Type{}}
	for _, root := range roots {
		w.of(root)
	}
	var b strings.Builder
	b.WriteString("// The page's figures as the report writes them. Generated from the types of\n")
	b.WriteString("// internal/read/report, which say what each field means, by `make golden`.\n")
	for len(w.names) > 0 {
		name := w.names[0]
		w.names = w.names[1:]
		fmt.Fprintf(&b, "\nexport interface %s {\n", name)
		for _, f := range reflect.VisibleFields(w.known[name]) {
			tag, omitted, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous || !f.IsExported() || tag == "-" {
				continue
			}
			optional := ""
			if strings.Contains(omitted, "omit") {
				optional = "?"
			}
			fmt.Fprintf(&b, "\t%s%s: %s;\n", tag, optional, w.of(f.Type))
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// tsWriter names the types that it meets; those to be written yet are at the end
// of names.
type tsWriter struct {
	names []string
	known map[string]reflect.Type
}

// of returns a type's name in TypeScript.
func (w *tsWriter) of(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		if t.Elem().Kind() == reflect.Float64 {
			return "(number | null)"
		}
		return w.of(t.Elem())
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Slice:
		return w.of(t.Elem()) + "[]"
	case reflect.Array:
		return "[" + strings.TrimSuffix(strings.Repeat(w.of(t.Elem())+", ", t.Len()), ", ") + "]"
	case reflect.Map:
		return "Record<" + w.of(t.Key()) + ", " + w.of(t.Elem()) + ">"
	case reflect.Struct:
		name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
		if was, met := w.known[name]; !met {
			w.known[name] = t
			w.names = append(w.names, name)
		} else if was != t {
			panic(fmt.Sprintf("%v and %v have one name in TypeScript", was, t))
		}
		return name
	}
	if t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64 {
		return "number"
	}
	panic(fmt.Sprintf("no type of TypeScript is written for %v", t))
}
