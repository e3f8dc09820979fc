package source

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"netdyno/internal/input"
)

// MaxFile bounds a study file in bytes.
const MaxFile = 64 << 10

// readYAML reads one YAML document. Anchors, aliases, tags and merge keys are
// refused: a study says each thing once, in sight. Keys are those that a file has, for the
// error of an empty one.
func readYAML(name string, data []byte, keys []string) (*node, error) {
	src := &file{name: name}
	whole := position{file: src}
	shape := input.CheckYAML(data, MaxFile)
	if shape == nil || shape.Shown { // without its lines, an error shows none
		src.lines = strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	}
	if shape != nil {
		return nil, position{file: src, line: shape.Line, column: shape.Column}.errorf("%s", shape.What)
	}
	parsed, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, syntaxError(src, err)
	}
	var body ast.Node
	for _, doc := range parsed.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType:
		case body != nil:
			return nil, positionOf(src, doc.Body).errorf("a second document begins; expected one study per file")
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return nil, whole.errorf("the file is empty; expected a mapping with the keys %s", joined(keys))
	}
	return convert(src, body)
}

func syntaxError(src *file, err error) error {
	var syntax yaml.Error
	if !errors.As(err, &syntax) || syntax.GetToken() == nil {
		return position{file: src}.errorf("%s", err)
	}
	text := syntax.GetMessage()
	if before, _, found := strings.Cut(text, " already defined at "); found {
		text = before + " is written twice"
	}
	return positionIn(src, syntax.GetToken()).errorf("%s", text)
}

func positionIn(src *file, t *token.Token) position {
	return position{file: src, line: t.Position.Line, column: t.Position.Column}
}

// positionOf returns where a node begins; the library gives a block mapping its first
// colon, so its first key is taken.
func positionOf(src *file, n ast.Node) position {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return positionIn(src, m.Values[0].Key.GetToken())
	}
	return positionIn(src, n.GetToken())
}

func convert(src *file, n ast.Node) (*node, error) {
	here := positionOf(src, n)
	text := func(s string) (*node, error) { return &node{at: here, kind: scalar, text: strings.TrimSpace(s)}, nil }
	switch n := n.(type) {
	case *ast.StringNode:
		return text(n.Value)
	case *ast.LiteralNode:
		return text(n.Value.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return text(n.GetToken().Value) // as written: levels are texts, their factor knows the type
	case *ast.NullNode:
		// A transport is called null; only the word itself means it.
		if t := n.GetToken(); t.Type == token.NullType && t.Value == "null" {
			return text("null")
		}
		return nil, here.errorf("the value is missing")
	case *ast.SequenceNode:
		out := &node{at: here, kind: list}
		for _, v := range n.Values {
			item, err := convert(src, v)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, item)
		}
		return out, nil
	case *ast.MappingNode:
		return convertMapping(src, n)
	}
	return nil, here.errorf("%s is not part of a study file; expected a value, a list or a mapping", strings.ToLower(n.Type().String()))
}

func convertMapping(src *file, n *ast.MappingNode) (*node, error) {
	out := &node{at: positionOf(src, n), kind: mapping}
	for _, v := range n.Values {
		here := positionIn(src, v.Key.GetToken())
		key, ok := v.Key.(ast.ScalarNode)
		if !ok || v.Key.Type() == ast.MergeKeyType {
			return nil, here.errorf("the key is not a name")
		}
		name := strings.TrimSpace(key.GetToken().Value)
		if first := out.entryOf(name); first != nil {
			return nil, here.errorf("%s is written twice; first at %s", name, first.at)
		}
		value, err := convert(src, v.Value)
		if err != nil {
			return nil, err
		}
		out.entries = append(out.entries, entry{name, here, value})
	}
	return out, nil
}
