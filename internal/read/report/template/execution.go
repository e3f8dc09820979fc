package template

import (
	"fmt"
	"io"
	"reflect"
	"text/template/parse"
)

// execution writes one template; a failure ends it by panic.
type execution struct {
	*set
	w     io.Writer
	tree  *parse.Tree
	dot   reflect.Value
	vars  []variable // the innermost last
	depth int
}

type variable struct {
	name  string
	value reflect.Value
}

// deepest bounds templates that call themselves.
const deepest = 1000

// valueOf is a value without the interfaces around it.
func valueOf(v any) reflect.Value { return open(reflect.ValueOf(v)) }

func open(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// fail ends the execution at a node.
func (e *execution) fail(at parse.Node, format string, more ...any) {
	err := fmt.Errorf(format, more...)
	if at != nil {
		location, what := e.tree.ErrorContext(at)
		err = fmt.Errorf("%s: %s: %w", location, what, err)
	}
	panic(failure{err})
}

// call executes a template by its name, with variables of its own.
func (e *execution) call(at parse.Node, name string, dot reflect.Value) {
	tree := e.trees[name]
	if tree == nil {
		e.fail(at, "there is no template %q", name)
	}
	if e.depth == deepest {
		e.fail(at, "templates call each other more than %d deep", deepest)
	}
	inner := execution{set: e.set, w: e.w, tree: tree, dot: dot, vars: []variable{{"$", dot}}, depth: e.depth + 1}
	inner.walk(tree.Root)
}

// walk writes a node.
func (e *execution) walk(node parse.Node) {
	switch n := node.(type) {
	case *parse.ListNode:
		for _, one := range n.Nodes {
			e.walk(one)
		}
	case *parse.TextNode:
		e.write(string(n.Text))
	case *parse.ActionNode:
		value := e.pipe(n.Pipe)
		if len(n.Pipe.Decl) > 0 {
			return
		}
		text, err := e.contexts[n].fill(printed(value))
		if err != nil {
			e.fail(n, "%w", err)
		}
		e.write(text)
	case *parse.TemplateNode:
		dot := reflect.Value{}
		if n.Pipe != nil {
			dot = e.pipe(n.Pipe)
		}
		e.call(n, n.Name, dot)
	case *parse.IfNode:
		e.branch(&n.BranchNode)
	case *parse.WithNode:
		e.branch(&n.BranchNode)
	case *parse.RangeNode:
		e.scoped(func() { e.each(n) })
	}
}

func (e *execution) write(text string) {
	if _, err := io.WriteString(e.w, text); err != nil {
		panic(failure{err})
	}
}

// printed is a value as fmt prints it: what a pointer points to, unless it prints itself.
func printed(v reflect.Value) any {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		if _, ok := v.Interface().(fmt.Stringer); ok {
			break
		}
		v = v.Elem()
	}
	if !v.IsValid() {
		return ""
	}
	return v.Interface()
}

// scoped forgets the variables that run declares, and the dot that it sets.
func (e *execution) scoped(run func()) {
	dot, vars := e.dot, len(e.vars)
	run()
	e.dot, e.vars = dot, e.vars[:vars]
}

// branch is if and with.
func (e *execution) branch(n *parse.BranchNode) {
	e.scoped(func() {
		value := e.pipe(n.Pipe)
		switch {
		case truth(value):
			if n.NodeType == parse.NodeWith {
				e.dot = value
			}
			e.walk(n.List)
		case n.ElseList != nil:
			e.walk(n.ElseList)
		}
	})
}

// each is range, over slices and arrays.
func (e *execution) each(n *parse.RangeNode) {
	list := e.pipe(n.Pipe)
	for list.Kind() == reflect.Pointer && !list.IsNil() {
		list = list.Elem()
	}
	switch list.Kind() {
	case reflect.Slice, reflect.Array:
	case reflect.Invalid:
	default:
		e.fail(n, "range over a %s; expected a slice", list.Type())
	}
	if !list.IsValid() || list.Len() == 0 {
		if n.ElseList != nil {
			e.walk(n.ElseList)
		}
		return
	}
	for i := range list.Len() {
		e.scoped(func() {
			e.dot = open(list.Index(i))
			if d := n.Pipe.Decl; len(d) > 0 {
				e.declare(d[len(d)-1].Ident[0], e.dot)
				if len(d) > 1 {
					e.declare(d[0].Ident[0], reflect.ValueOf(i))
				}
			}
			e.walk(n.List)
		})
	}
}

func (e *execution) declare(name string, value reflect.Value) {
	e.vars = append(e.vars, variable{name, value})
}

// pipe returns the value of a pipeline, and declares its variable; those of range are
// declared for each element.
func (e *execution) pipe(p *parse.PipeNode) (value reflect.Value) {
	for i, c := range p.Cmds {
		var piped []reflect.Value
		if i > 0 {
			piped = []reflect.Value{value}
		}
		value = open(e.command(c, piped))
	}
	if p.IsAssign {
		e.fail(p, "an assignment; expected :=")
	}
	if len(p.Decl) == 1 {
		e.declare(p.Decl[0].Ident[0], value)
	}
	return value
}

func (e *execution) command(c *parse.CommandNode, piped []reflect.Value) reflect.Value {
	if name, ok := c.Args[0].(*parse.IdentifierNode); ok {
		return e.function(name, c.Args[1:], piped)
	}
	if len(c.Args) > 1 || len(piped) > 0 {
		e.fail(c, "arguments for what is no function")
	}
	return e.value(c.Args[0])
}

// value is what a word stands for.
func (e *execution) value(node parse.Node) reflect.Value {
	switch n := node.(type) {
	case *parse.DotNode:
		return e.dot
	case *parse.FieldNode:
		return e.fields(n, e.dot, n.Ident)
	case *parse.VariableNode:
		for i := len(e.vars) - 1; i >= 0; i-- {
			if e.vars[i].name == n.Ident[0] {
				return e.fields(n, e.vars[i].value, n.Ident[1:])
			}
		}
	case *parse.ChainNode:
		return e.fields(n, e.value(n.Node), n.Field)
	case *parse.PipeNode:
		return e.pipe(n)
	case *parse.IdentifierNode:
		return e.function(n, nil, nil)
	case *parse.BoolNode:
		return reflect.ValueOf(n.True)
	case *parse.StringNode:
		return reflect.ValueOf(n.Text)
	case *parse.NumberNode:
		if n.IsInt {
			return reflect.ValueOf(int(n.Int64))
		}
		return reflect.ValueOf(n.Float64)
	}
	e.fail(node, "nothing that pages use")
	return reflect.Value{}
}

// fields follows names from a value: fields of structures, keys of maps, and Methods.
func (e *execution) fields(at parse.Node, v reflect.Value, names []string) reflect.Value {
	for _, name := range names {
		v = open(e.field(at, v, name))
	}
	return v
}

func (e *execution) field(at parse.Node, v reflect.Value, name string) reflect.Value {
	if !v.IsValid() {
		e.fail(at, "nil has no .%s", name)
	}
	in := v
	for in.Kind() == reflect.Pointer {
		if in.IsNil() {
			e.fail(at, "nil, a %s, has no .%s", v.Type(), name)
		}
		in = in.Elem()
	}
	if method := e.methods[name]; method != nil {
		if got, ok := method(v.Interface()); ok {
			return reflect.ValueOf(got)
		}
	}
	switch in.Kind() {
	case reflect.Struct:
		if f := in.FieldByName(name); f.IsValid() {
			return f
		}
	case reflect.Map:
		return in.MapIndex(reflect.ValueOf(name))
	}
	e.fail(at, "%s has no field .%s; methods are listed by Template.Methods", v.Type(), name)
	return reflect.Value{}
}

// function calls a builtin or one of FuncMap.
func (e *execution) function(n *parse.IdentifierNode, args []parse.Node, piped []reflect.Value) reflect.Value {
	if n.Ident == "and" || n.Ident == "or" {
		return e.logical(n.Ident == "or", args)
	}
	values := make([]reflect.Value, 0, len(args)+len(piped))
	for _, a := range args {
		values = append(values, open(e.value(a)))
	}
	values = append(values, piped...)
	if f := e.funcs[n.Ident]; f != nil {
		return e.callFunc(n, reflect.ValueOf(f), values)
	}
	b := builtins[n.Ident].(builtin)
	if len(values) != b.takes {
		e.fail(n, "%s takes %d values, it was given %d", n.Ident, b.takes, len(values))
	}
	got, err := b.of(values)
	if err != nil {
		e.fail(n, "%s: %w", n.Ident, err)
	}
	return got
}

// logical is and or or, which look at arguments only as far as need be.
func (e *execution) logical(or bool, args []parse.Node) (value reflect.Value) {
	for _, a := range args {
		if value = open(e.value(a)); truth(value) == or {
			break
		}
	}
	return value
}

func (e *execution) callFunc(n *parse.IdentifierNode, f reflect.Value, values []reflect.Value) reflect.Value {
	t := f.Type()
	if t.NumIn() != len(values) || t.NumOut() != 1 {
		e.fail(n, "%s takes %d values, it was given %d", n.Ident, t.NumIn(), len(values))
	}
	for i, v := range values {
		if !v.IsValid() {
			values[i] = reflect.Zero(t.In(i))
		} else if !v.Type().AssignableTo(t.In(i)) {
			e.fail(n, "%s takes a %s, it was given a %s", n.Ident, t.In(i), v.Type())
		}
	}
	return f.Call(values)[0]
}

// builtin is a function that takes values of many types.
type builtin struct {
	takes int
	of    func([]reflect.Value) (reflect.Value, error)
}

// builtins are those of text/template that pages use; logical is what "and" and "or" do.
var builtins = map[string]any{
	"and": builtin{},
	"or":  builtin{},
	"not": builtin{1, func(v []reflect.Value) (reflect.Value, error) { return reflect.ValueOf(!truth(v[0])), nil }},
	"len": builtin{1, func(v []reflect.Value) (reflect.Value, error) { return reflect.ValueOf(v[0].Len()), nil }},
	"eq":  builtin{2, func(v []reflect.Value) (reflect.Value, error) { return equal(v[0], v[1], true) }},
	"ne":  builtin{2, func(v []reflect.Value) (reflect.Value, error) { return equal(v[0], v[1], false) }},
	"index": builtin{2, func(v []reflect.Value) (reflect.Value, error) {
		if v[0].Kind() == reflect.Map {
			if got := v[0].MapIndex(v[1]); got.IsValid() {
				return got, nil
			}
			return reflect.Zero(v[0].Type().Elem()), nil
		}
		if i := int(v[1].Int()); i >= 0 && i < v[0].Len() {
			return v[0].Index(i), nil
		}
		return reflect.Value{}, fmt.Errorf("%d is not among %d", v[1].Int(), v[0].Len())
	}},
}

// equal compares two texts or two whole numbers, of whatever named types.
func equal(a, b reflect.Value, want bool) (reflect.Value, error) {
	switch {
	case a.Kind() == reflect.String && b.Kind() == reflect.String:
		return reflect.ValueOf((a.String() == b.String()) == want), nil
	case a.CanInt() && b.CanInt():
		return reflect.ValueOf((a.Int() == b.Int()) == want), nil
	}
	return reflect.Value{}, fmt.Errorf("a %s and a %s; expected two texts or two whole numbers", a.Kind(), b.Kind())
}

// truth reports whether a value is neither empty nor zero; a structure is always true.
func truth(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() > 0
	case reflect.Struct:
		return true
	}
	return !v.IsZero()
}
