package template

import (
	"bytes"
	"errors"
	hypertext "html/template"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// hostile are texts that would be more than text somewhere.
var hostile = []string{
	"", "plain", `<script>alert(1)</script>`, `" onclick="x`, "a+b & c'd", "javascript:alert(1)", "JaVaScRiPt:x", "data:text/html,x", "mailto:a@b", "https://h/p?q=1#f",
	"a/b:c", "x y", "100%", "%41%zz", "\x00", "ü·–", "</style><b>", "--><i>", "]]>", "#a?b",
}

// everywhere has a value in each place where pages have one.
const everywhere = `<!doctype html>
<title>{{.}} · x</title>
<meta content="{{.}}"><p class="a{{if .}} b{{end}}">{{.}}</p>
<a href="{{.}}">{{.}}</a><a href="#{{.}}">x</a><a href="/at?{{.}}" download>x</a><a href="{{.}}#claims">x</a><a href="/runs/{{.}}/report.html">x</a>
<div{{if .}} open{{end}} aria-label="{{.}}: {{.}}">{{with .}}{{.}}{{else}}none{{end}}</div>`

// A page is what html/template makes of it, whatever stands in it.
func TestValuesAreEscapedAsByHTMLTemplate(t *testing.T) {
	ours := Must(New("page").Parse(everywhere))
	theirs := hypertext.Must(hypertext.New("page").Parse(everywhere))
	same := func(t interface{ Fatalf(string, ...any) }, value string) {
		var got, want bytes.Buffer
		if err := errors.Join(ours.Execute(&got, value), theirs.Execute(&want, value)); err != nil {
			t.Fatalf("%q: %v", value, err)
		}
		// Where a URL would run something, the words in its place are each library's own.
		if w := strings.ReplaceAll(want.String(), "#ZgotmplZ", "#unsafe"); got.String() != w {
			t.Fatalf("%q: made\n%s\nwant\n%s", value, got.String(), w)
		}
	}
	for _, value := range hostile {
		same(t, value)
	}
	rapid.Check(t, func(t *rapid.T) {
		same(t, rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z:/?#%&"'<>+ ]{0,12}`), rapid.SampledFrom(hostile)).Draw(t, "value"))
	})
}

type inner struct {
	Name string
	Rows []string
}

type outer struct {
	inner
	*Deep
	Title string
	Count int
	None  *inner
	Some  *inner
	Any   any
	Map   map[string]HTML
	State state
	Pairs [2]inner
	Flag  bool
}

type Deep struct{ Far string }

type state string

func (o outer) Long() bool  { return o.Count > 3 }
func (i inner) Said() []int { return []int{len(i.Name), 2} }

var value = outer{
	inner: inner{"n", []string{"a", "b", "<c>"}}, Deep: &Deep{"far"}, Title: "t&t", Count: 4, Some: &inner{Name: "some"}, Any: inner{Name: "any"},
	Map: map[string]HTML{"x": "<b>x</b>"}, State: "on", Pairs: [2]inner{{Name: "p"}, {Name: "q"}},
}

// What pages say in the language of text/template means what it means there.
func TestTheLanguageIsThatOfHTMLTemplate(t *testing.T) {
	for _, text := range []string{
		`{{.Title}} {{.Name}} {{.Far}} {{.Count}} {{.Some.Name}} {{.Any.Name}} {{.Flag}} {{.State}}`,
		`{{range .Rows}}[{{.}}{{$.Title}}]{{else}}none{{end}}{{range .Some.Rows}}x{{else}}none{{end}}`,
		`{{range $i, $r := .Rows}}{{if $i}}, {{end}}{{$r}}{{end}}{{range $r := .Rows}}{{$r}}{{end}}{{range $i, $r := .Rows}}{{$i}}{{end}}`,
		`{{if .None}}a{{else if .Some}}b{{else}}c{{end}}{{with .None}}a{{else with .Some}}{{.Name}}{{end}}{{if not .Flag}}n{{end}}`,
		`{{if and (ne .Title "x") (eq .State "on") (eq .Count 4)}}y{{end}}{{or .None .Flag .Title "–"}}{{and .Title .Count}}{{or "" .Rows}}`,
		`{{len .Rows}}{{len .Title}}{{(index .Pairs 1).Name}}{{index .Rows 0}}{{with index .Map "y"}}none{{end}}{{.Map.z}}`,
		`{{$t := .Title}}{{with .Some}}{{$t}}{{$t := .Name}}{{$t}}{{end}}{{$t}}{{.Rows | len}}{{shout "a" | shout}}{{shout .Title}}`,
		`{{template "row" .Some}}{{template "row" .Any}}{{define "row"}}<i>{{.Name}}{{$.Name}}{{range .Said}} {{.}}{{end}}</i>{{end}}`,
		`{{if .Long}}long{{end}}{{range .Said}}{{.}}{{end}}{{- /* nothing */ -}}  x {{- " y" }}{{true}}{{2.5}}{{.Rows}}{{.Pairs}}`,
	} {
		shout := func(s string) string { return strings.ToUpper(s) + "!" }
		ours := New("page").Funcs(FuncMap{"shout": shout}).Methods(Methods{
			"Long": Method(func(v interface{ Long() bool }) any { return v.Long() }),
			"Said": Method(func(v interface{ Said() []int }) any { return v.Said() }),
		})
		theirs := hypertext.Must(hypertext.New("page").Funcs(hypertext.FuncMap{"shout": shout}).Parse(text))
		var got, want bytes.Buffer
		if _, err := ours.Parse(text); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if err := errors.Join(ours.Execute(&got, value), theirs.Execute(&want, value)); err != nil || got.String() != want.String() {
			t.Errorf("%s: %v, made\n%s\nwant\n%s", text, err, got.String(), want.String())
		}
	}
}

// Texts of the types that stand for themselves do so only where their type belongs.
func TestSafeTextsStandAsTheyAre(t *testing.T) {
	for _, c := range []struct {
		text  string
		value any
		want  string // "" where it is refused
	}{
		{`<p>{{.}}</p>`, HTML("<b>+</b>"), `<p><b>+</b></p>`},
		{`<p>{{.}}</p>`, JS("<b>"), `<p>&lt;b&gt;</p>`},
		{`<p title="{{.}}">`, HTML(`"<b>`), `<p title="&#34;&lt;b&gt;">`},
		{`<script>{{.}}</script><p>{{len .}}`, JS("a<b"), `<script>a<b</script><p>3`},
		{`<script type="application/gzip" id="x">{{.}}</script>`, HTML("AA+="), `<script type="application/gzip" id="x">AA+=</script>`},
		{`<style>{{.}}</style>`, CSS("p>a{}"), `<style>p>a{}</style>`},
		{`<script>{{.}}</script>`, "alert(1)", ""},
		{`<style>{{.}}</style>`, "p{}", ""},
	} {
		var got bytes.Buffer
		err := Must(New("page").Parse(c.text)).Execute(&got, c.value)
		if (err != nil) != (c.want == "") || err == nil && got.String() != c.want {
			t.Errorf("%s of %T: %q, %v, want %q", c.text, c.value, got.String(), err, c.want)
		}
	}
}

func TestWhatIsNotAllowedIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		`<p {{.}}>`:                       `page:1:5: {{.}}: a value in a tag`,
		`<p class={{.}}>`:                 `a value in a tag`,
		`<p onclick="f({{.}})">`:          `a value in a value of attribute onclick`,
		`<p style="color:{{.}}">`:         `a value in a value of attribute style`,
		`<!-- {{.}} -->`:                  `a value in a comment`,
		`<p class="{{if .}}a">{{end}}`:    `it ends between tags or in a value of attribute class; expected one place`,
		`{{range .}}<p class="{{end}}`:    `expected one place`,
		`<p class="{{template "x"}}">`:    `a template in a value of attribute class; expected it between tags`,
		`{{define "x"}}<p class="{{end}}`: `template "x" ends in a value of attribute class, expected between tags`,
		`<script>`:                        `template "page" ends in a script, expected between tags`,
		`{{range .}}{{break}}{{end}}`:     `nothing that pages use`,
		`{{.Name`:                         `unclosed action`,
		`{{nobody .}}`:                    `function "nobody" not defined`,
	} {
		if _, err := New("page").Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		`{{.Nobody}}`:             `page:1:2: .Nobody: template.outer has no field .Nobody`,
		`{{.None.Said}}`:          `nil, a *template.inner, has no .Said`,
		`{{.None.Name}}`:          `nil, a *template.inner, has no .Name`,
		`{{.Long}}`:               `has no field .Long; methods are listed by Template.Methods`,
		`{{template "nobody"}}`:   `there is no template "nobody"`,
		`{{range .Title}}{{end}}`: `range over a string; expected a slice`,
		`{{index .Rows 3}}`:       `index: 3 is not among 3`,
		`{{eq .Title .Count}}`:    `eq: a string and a int; expected two texts or two whole numbers`,
		`{{.Title 3}}`:            `arguments for what is no function`,
		`{{short .Count}}`:        `short takes a string, it was given a int`,
		`{{not}}`:                 `not takes 1 values, it was given 0`,
		`{{short}}`:               `short takes 1 values, it was given 0`,
		`{{$x := 1}}{{$x = 2}}`:   `an assignment; expected :=`,
		`{{define "r"}}{{template "r"}}{{end}}{{template "r"}}`: `templates call each other more than 1000 deep`,
	} {
		made, err := New("page").Funcs(FuncMap{"short": func(s string) string { return s }}).Methods(Methods{
			"Said": Method(func(v interface{ Said() []int }) any { return v.Said() }),
		}).Parse(text)
		if err == nil {
			err = made.Execute(new(bytes.Buffer), value)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestAWritersErrorIsTheTemplates(t *testing.T) {
	if err := Must(New("page").Parse("x")).Execute(full{}, nil); err == nil || err.Error() != "full" {
		t.Errorf("error %v, want the writer's", err)
	}
}
