package arrange

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"netdyno/internal/input"
)

// decode reads one YAML document with known keys alone. Anchors, aliases, tags
// and merge keys are refused, as in a study: a few of them stand for any number
// of hosts.
func decode(text []byte) (document, error) {
	var d document
	if shape := input.CheckYAML(text, MaxFile); shape != nil {
		return d, shape
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return d, err
	}
	var body ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType:
		case body != nil:
			return d, fmt.Errorf("line %d: a second document begins; expected one rig per file", doc.Body.GetToken().Position.Line)
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return d, errors.New("the file is empty; expected the keys rig, count, options and hosts")
	}
	for _, elsewhere := range []ast.NodeType{ast.AnchorType, ast.AliasType, ast.MergeKeyType, ast.TagType, ast.DirectiveType} {
		if found := ast.Filter(elsewhere, body); len(found) > 0 {
			at := found[0].GetToken().Position
			return d, fmt.Errorf("%d:%d: %s is not part of a rig file; expected a value, a list or a mapping", at.Line, at.Column, strings.ToLower(elsewhere.String()))
		}
	}
	return d, yaml.NodeToValue(body, &d, yaml.Strict())
}
