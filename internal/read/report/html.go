package report

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"netdyno/internal/printable"
)

//go:embed assets/page.html
var pageHTML string

//go:embed assets/report.css
var styleSheet string

// script draws the figures; built from web/ by `npm run build`.
//
//go:embed assets/report.js
var script string

// pageTemplate is parsed when the first page is written: netdyno starts several times
// in each trial, as the meter, and writes one page in a run.
var pageTemplate = sync.OnceValue(parsePage)

// parsePage returns a template of its own: one that has been executed cannot be added to.
func parsePage() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"mark":    mark,
		"wordy":   func(text string) bool { return strings.Contains(text, " ") }, // why there is no interval
		"verdict": verdictClass,
	}).Parse(pageHTML))
}

// filled is what the template sees beside the page.
type filled struct {
	Page
	Careful  bool // something bears on whether to believe the answers
	Policy   string
	Style    template.CSS
	Script   template.JS
	Drawn    template.HTML            // packed
	Accounts template.HTML            // packed, of trials
	Packed   map[string]template.HTML // tables by the cell's ID
	Marks    string
}

// Said are the sentences of the answer without how to go on, which has a line of its own, and
// the condition, which stands below the picture.
func (p Page) Said() []string {
	return slices.DeleteFunc(slices.Clone(p.Answer), func(said string) bool { return said == p.GoOn || said == p.Condition })
}

// Onward is how to go on without the command, which is to be copied.
func (p Page) Onward() string { return strings.TrimSuffix(p.GoOn, p.Command) }

// drawn is the part of the page that the script takes up.
type drawn struct {
	Arms    []Key    `json:"arms"`
	Figures []Figure `json:"figures"`
	Trials  *Trials  `json:"trials,omitempty"` // nil on a page that is of no one run
}

// HTML writes the whole report as one file that refers to nothing outside itself and is
// readable without its script. The page's content policy lets only this script and this
// style sheet run, so that a name taken from a study or a worker stays text. The error is
// w's.
func (p Page) HTML(w io.Writer) error {
	drawn, err := packJSON(drawn{p.Arms, p.figures(), &p.Trials})
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	accounts, err := packJSON(p.Accounts)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	tables, err := p.packTables()
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	v := filled{
		Page:     p,
		Careful:  slices.ContainsFunc(p.Warnings, func(w Warning) bool { return w.Severe }),
		Policy:   contentPolicy(),
		Style:    template.CSS(styleSheet),
		Script:   template.JS(script),
		Drawn:    drawn,
		Accounts: accounts,
		Packed:   tables,
		Marks:    marks,
	}
	if err := pageTemplate().Execute(printable.NewWriter(w), v); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// contentPolicy lets only the page's own script and style sheet run.
func contentPolicy() string {
	return fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:", digest(script), digest(styleSheet))
}

// digest names inline content in a content security policy.
func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// pack returns the bytes that write writes, gzipped, as base64. The page holds its large
// parts in this form, and the script unpacks a part when it is needed. The result
// consists of letters, digits and "+/=", so that it is safe anywhere in the page.
func pack(write func(io.Writer) error) (template.HTML, error) {
	var text bytes.Buffer
	encoder := base64.NewEncoder(base64.StdEncoding, &text)
	compressor := gzip.NewWriter(encoder)
	err := write(compressor)
	if err == nil {
		err = compressor.Close()
	}
	if err == nil {
		err = encoder.Close()
	}
	return template.HTML(text.String()), err
}

// packJSON packs a value as JSON whose characters can all be shown.
func packJSON(v any) (template.HTML, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return pack(func(w io.Writer) error {
		_, err := printable.NewWriter(w).Write(text)
		return err
	})
}

// maxOpenValues bounds the values of the tables of every metric that stand in the page
// as they are: about 500 KB. In a larger run the page holds these tables packed.
const maxOpenValues = 6000

// packTables returns the tables of every metric of a large run, packed, by the cell's
// ID; nil of a run whose tables stand in the page.
func (p Page) packTables() (map[string]template.HTML, error) {
	values := 0
	for _, c := range p.Cells {
		values += len(c.All.Rows) * len(c.All.Columns)
	}
	if values <= maxOpenValues {
		return nil, nil
	}
	all := map[string]template.HTML{}
	for _, c := range p.Cells {
		open := c.All
		open.Folded = false
		text, err := pack(func(w io.Writer) error {
			return pageTemplate().ExecuteTemplate(printable.NewWriter(w), "table", open)
		})
		if err != nil {
			return nil, err
		}
		all[c.ID] = text
	}
	return all, nil
}
