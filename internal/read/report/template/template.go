// Package template fills in templates of HTML, in the language of text/template and with
// html/template's results. It stands in the place of the latter, which looks methods up by
// name: the linker then keeps every exported method of every library, 4 MB of netdyno,
// which starts several times in each trial (docs/decisions/0066). What the pages do not use
// is an error here: values in names of attributes, in scripts and in style sheets unless
// they are of the types below, comments, break and continue.
package template

import (
	"fmt"
	"io"
	"maps"
	"text/template/parse"
)

// HTML is a text that stands between tags as it is. Who makes one vouches for it.
type HTML string

// CSS is a text that stands in a style sheet as it is.
type CSS string

// JS is a text that stands in a script as it is.
type JS string

// FuncMap are the functions that templates call, by name. Each returns one value.
type FuncMap map[string]any

// Methods are the methods that templates call as if they were fields, by name: each
// returns what its method returns of a value, and false of a value without it.
type Methods map[string]func(any) (any, bool)

// Method makes an entry of Methods of a call by interface M.
func Method[M any](call func(M) any) func(any) (any, bool) {
	return func(v any) (any, bool) {
		m, ok := v.(M)
		if !ok {
			return nil, false
		}
		return call(m), true
	}
}

// Template is one of a set of templates, which call each other by name. A set that is
// complete may be executed on any goroutine.
type Template struct {
	name string
	*set
}

type set struct {
	trees    map[string]*parse.Tree
	funcs    FuncMap
	methods  Methods
	contexts map[*parse.ActionNode]context
}

// New returns an empty template in a set of its own.
func New(name string) *Template {
	return &Template{name, &set{map[string]*parse.Tree{}, FuncMap{}, Methods{}, map[*parse.ActionNode]context{}}}
}

// New returns an empty template in the set of t.
func (t *Template) New(name string) *Template { return &Template{name, t.set} }

// Funcs adds functions to the set, before a text that calls them is parsed.
func (t *Template) Funcs(funcs FuncMap) *Template {
	maps.Copy(t.funcs, funcs)
	return t
}

// Methods adds methods to the set.
func (t *Template) Methods(methods Methods) *Template {
	maps.Copy(t.methods, methods)
	return t
}

// Parse makes a text the template, and what it defines further templates of the set. The
// error names the line, and what of it is not allowed where it stands in HTML.
func (t *Template) Parse(text string) (*Template, error) {
	trees, err := parse.Parse(t.name, text, "", "", t.funcs, builtins)
	if err != nil {
		return nil, err
	}
	for name, tree := range trees {
		end, err := t.scan(tree, tree.Root, context{})
		if err == nil && end != (context{}) {
			err = fmt.Errorf("%s: template %q ends %s, expected between tags", tree.ParseName, name, end)
		}
		if err != nil {
			return nil, err
		}
		t.trees[name] = tree
	}
	return t, nil
}

// Must returns a template that is known to be right, and panics where it is not.
func Must(t *Template, err error) *Template {
	if err != nil {
		panic(err)
	}
	return t
}

// Execute writes the template, filled in with a value. The error is w's, or names the line
// and what the value lacks.
func (t *Template) Execute(w io.Writer, value any) error { return t.ExecuteTemplate(w, t.name, value) }

// ExecuteTemplate is Execute of the set's template of a name.
func (t *Template) ExecuteTemplate(w io.Writer, name string, value any) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	e := &execution{set: t.set, w: w}
	e.call(nil, name, valueOf(value))
	return nil
}

// failure is what ends an execution.
type failure struct{ error }
