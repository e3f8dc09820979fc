package template

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template/parse"
)

// place is where in HTML something stands.
type place int

const (
	inText    place = iota // between tags
	inTag                  // in a tag, outside of a value of an attribute
	inValue                // in the double quotes of an attribute's value
	inScript               // between <script> and </script>
	inStyle                // between <style> and </style>
	inComment              // in <!-- -->
)

func (c context) String() string {
	return []string{"between tags", "in a tag", "in a value of attribute " + c.attribute, "in a script", "in a style sheet", "in a comment"}[c.place]
}

// context is where a value is filled in, which decides how it is escaped.
type context struct {
	place     place
	element   string // inTag: its name
	attribute string // inValue: its name
	url       urlPart
}

// urlPart is how much of a URL stands before a value that is filled into one.
type urlPart int

const (
	noURL    urlPart = iota // an attribute that is no URL
	urlStart                // none of it
	urlPath
	urlQuery // "?" or "#" does
)

// urls are the attributes whose values are URLs. What a browser runs (on…) or lays out by
// (style) takes no values at all.
var urls = []string{"action", "cite", "formaction", "href", "poster", "src"}

// raw are the elements whose content is no HTML.
var raw = map[string]place{"script": inScript, "style": inStyle}

// scan walks a template from a context, notes where its values are filled in, and returns
// the context that it ends in.
func (s *set) scan(tree *parse.Tree, node parse.Node, c context) (context, error) {
	refuse := func(why error) error {
		location, what := tree.ErrorContext(node)
		return fmt.Errorf("%s: %s: %w", location, what, why)
	}
	switch n := node.(type) {
	case *parse.ListNode:
		for _, one := range n.Nodes {
			var err error
			if c, err = s.scan(tree, one, c); err != nil {
				return c, err
			}
		}
	case *parse.TextNode:
		return c.after(string(n.Text)), nil
	case *parse.ActionNode:
		if len(n.Pipe.Decl) > 0 {
			return c, nil
		}
		if c.place == inTag || c.place == inComment || c.place == inValue && (strings.HasPrefix(c.attribute, "on") || c.attribute == "style") {
			return c, refuse(fmt.Errorf("a value %s; expected one between tags or in the double quotes of another attribute", c))
		}
		s.contexts[n] = c
		if c.url == urlStart {
			c.url = urlPath
		}
	case *parse.IfNode:
		return s.branches(tree, &n.BranchNode, c, refuse)
	case *parse.WithNode:
		return s.branches(tree, &n.BranchNode, c, refuse)
	case *parse.RangeNode:
		return s.branches(tree, &n.BranchNode, c, refuse)
	case *parse.TemplateNode:
		if c.place != inText {
			return c, refuse(fmt.Errorf("a template %s; expected it between tags", c))
		}
	default:
		return c, refuse(errors.New("nothing that pages use"))
	}
	return c, nil
}

// branches are the ways through a node, all of which have to end in the same place.
func (s *set) branches(tree *parse.Tree, n *parse.BranchNode, c context, refuse func(error) error) (context, error) {
	then, err := s.scan(tree, n.List, c)
	if err != nil {
		return c, err
	}
	otherwise := c
	if n.ElseList != nil {
		if otherwise, err = s.scan(tree, n.ElseList, c); err != nil {
			return c, err
		}
	}
	least := min(then.url, otherwise.url)
	then.url, otherwise.url = least, least
	if then != otherwise || n.NodeType == parse.NodeRange && then.place != c.place {
		return c, refuse(fmt.Errorf("it ends %s or %s; expected one place", then, otherwise))
	}
	return then, nil
}

// after is the context behind a text.
func (c context) after(text string) context {
	for text != "" {
		c, text = c.step(text)
	}
	return c
}

// step goes to the next place of a text, and returns what of the text lies behind it.
func (c context) step(text string) (context, string) {
	switch c.place {
	case inText:
		_, rest, found := strings.Cut(text, "<")
		switch {
		case !found:
			return c, ""
		case strings.HasPrefix(rest, "!--"):
			return context{place: inComment}, rest
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r != '/' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') })
		if end < 0 {
			end = len(rest)
		}
		return context{place: inTag, element: strings.ToLower(rest[:end])}, rest[end:]
	case inTag:
		i := strings.IndexAny(text, `>"`)
		switch {
		case i < 0:
			return c, ""
		case text[i] == '"':
			name := text[:i]
			name = strings.ToLower(strings.TrimSuffix(name[strings.LastIndexAny(name, " \n\t")+1:], "="))
			c.place, c.attribute = inValue, name
			if slices.Contains(urls, name) {
				c.url = urlStart
			}
			return c, text[i+1:]
		}
		return context{place: raw[c.element]}, text[i+1:]
	case inValue:
		value, rest, closed := strings.Cut(text, `"`)
		if closed {
			return context{place: inTag, element: c.element}, rest
		}
		if c.url != noURL && strings.ContainsAny(value, "?#") {
			c.url = urlQuery
		} else if c.url == urlStart {
			c.url = urlPath
		}
		return c, ""
	case inComment:
		return c.until(text, "-->")
	case inScript:
		return c.until(text, "</script>")
	}
	return c.until(text, "</style>")
}

func (c context) until(text, end string) (context, string) {
	_, rest, found := strings.Cut(text, end)
	if !found {
		return c, ""
	}
	return context{}, rest
}

// fill is a value as it stands in a context.
func (c context) fill(value any) (string, error) {
	switch c.place {
	case inText:
		if h, ok := value.(HTML); ok {
			return string(h), nil
		}
	case inScript:
		switch v := value.(type) {
		case JS:
			return string(v), nil
		case HTML: // in a script that is none: <script type="application/gzip">
			return string(v), nil
		}
		return "", fmt.Errorf("a value of type %T in a script; expected JS", value)
	case inStyle:
		if v, ok := value.(CSS); ok {
			return string(v), nil
		}
		return "", fmt.Errorf("a value of type %T in a style sheet; expected CSS", value)
	}
	text := fmt.Sprint(value)
	switch c.url {
	case urlStart:
		if !safeURL(text) {
			text = "#unsafe"
		}
		text = escapeURL(text, true)
	case urlPath:
		text = escapeURL(text, true)
	case urlQuery:
		text = escapeURL(text, false)
	}
	return escaper.Replace(text), nil
}

// escaper makes of a text one that is only text, between tags and in double quotes.
var escaper = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")

// safeURL reports whether a URL runs nothing: its scheme is one of the web's or of mail, or
// it has none.
func safeURL(url string) bool {
	scheme, _, found := strings.Cut(url, ":")
	if !found || strings.Contains(scheme, "/") {
		return true
	}
	return slices.ContainsFunc([]string{"http", "https", "mailto"}, func(s string) bool { return strings.EqualFold(s, scheme) })
}

// escapeURL encodes what may not stand in a URL; of what has a meaning in one everything
// unless it is whole, when it may be encoded already. Source: RFC 3986, section 2.
func escapeURL(text string, whole bool) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z', strings.IndexByte("-._~", c) >= 0,
			whole && strings.IndexByte("!#$&*+,/:;=?@[]", c) >= 0, whole && c == '%' && encoded(text[i:]):
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// encoded reports whether a text begins with a byte that is encoded.
func encoded(text string) bool {
	isHex := func(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }
	return len(text) >= 3 && isHex(text[1]) && isHex(text[2])
}
