package report

import (
	"bytes"
	_ "embed" // the pages' forms
	"fmt"
	"html/template"
	"io"
	"net/url"
	"strings"
	"sync"

	"netdyno/internal/printable"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/follow"
)

//go:embed assets/live.html
var liveHTML string

//go:embed assets/live.css
var liveStyle string

// liveScript replaces the parts of a run's page as they change; built from web/ by
// `npm run build`.
//
//go:embed assets/live.js
var liveScript string

// liveTemplate has the parts of the report's page beside its own.
var liveTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(parsePage().New("live").Funcs(template.FuncMap{
		"address": RunAddress,
		"time":    func(e follow.Entry) string { return e.Created.UTC().Format("2 Jan 2006, 15:04 UTC") },
	}).Parse(liveHTML))
})

// ServedPolicy is the content policy of every page that a server hands out: its own
// script and style sheet run, and it talks to the server alone.
func ServedPolicy() string {
	return fmt.Sprintf("default-src 'none'; script-src '%s' '%s'; style-src '%s' '%s'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		digest(script), digest(liveScript), digest(styleSheet), digest(styleSheet+liveStyle))
}

// RunAddress is the path of a run's page on a server.
func RunAddress(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return "/runs/" + strings.Join(parts, "/") + "/"
}

// Render writes the part's inside as HTML.
func (p LivePart) Render(s follow.Snapshot) ([]byte, error) {
	return execute("part-"+p.ID, p.view(s))
}

func execute(name string, view any) ([]byte, error) {
	var b bytes.Buffer
	w := printable.NewWriter(&b)
	if err := liveTemplate().ExecuteTemplate(w, name, view); err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return b.Bytes(), w.Flush()
}

// served is what every page of a server has.
type served struct {
	Title  string
	Style  template.CSS
	Script template.JS
}

func servedPage(title string) served {
	return served{Title: title, Style: template.CSS(styleSheet + liveStyle), Script: template.JS(liveScript)}
}

// filledPart is a part with its inside.
type filledPart struct {
	LivePart
	Inside template.HTML
}

// LiveHead is what the page of a run has besides its parts.
type LiveHead struct {
	Title, Question, Made, Path string
	Running                     bool
}

// NewLiveHead lays out what does not change while a run goes on.
func NewLiveHead(s follow.Snapshot) LiveHead {
	return LiveHead{
		Title: cells.Title(s.Header.Study), Question: s.Header.Study.Question, Path: s.Path,
		Made:    newLayout(finding.Findings{Run: compare.Run{Header: s.Header}}).made(),
		Running: s.State == follow.Running || s.State == follow.Listening,
	}
}

// LivePage writes the page of a run. Insides are its parts, as Render wrote them.
func LivePage(w io.Writer, head LiveHead, insides map[string][]byte) error {
	v := struct {
		served
		LiveHead
		Title string
		Parts []filledPart
	}{served: servedPage(head.Title), LiveHead: head, Title: head.Title}
	for _, p := range LiveParts() {
		if p.onward && !head.Running {
			continue
		}
		v.Parts = append(v.Parts, filledPart{p, template.HTML(insides[p.ID])}) //nolint:gosec // a template of ours made it
	}
	return writeServed(w, "live-page", v)
}

// RunsList is the list of runs in a directory, as far as it was asked for.
type RunsList struct {
	Dir    string
	Runs   []follow.Entry
	More   int // that are not listed
	All    int // in the directory
	Asked  follow.Wanted
	Tours  []string // directories of several runs
	Choice []ListChoice
}

// ListChoice is what a list can be narrowed by.
type ListChoice struct {
	Name, Chosen string
	Of           []string
}

// RunsPage writes the list.
func RunsPage(w io.Writer, l RunsList) error {
	return writeServed(w, "runs-page", struct {
		served
		RunsList
	}{servedPage("netdyno runs"), l})
}

// MessagePage writes a page that says why there is no other one.
func MessagePage(w io.Writer, title, text string) error {
	return writeServed(w, "message-page", struct {
		served
		Text string
	}{servedPage(title), text})
}

func writeServed(w io.Writer, name string, view any) error {
	text, err := execute(name, view)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
