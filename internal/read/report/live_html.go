package report

import (
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

// liveTemplate has the parts of the report's page beside its own.
var liveTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(parsePage().New("live").Funcs(template.FuncMap{
		"address": RunAddress,
		"time":    func(e follow.Entry) string { return e.Created.UTC().Format("2 Jan 2006, 15:04 UTC") },
	}).Parse(liveHTML))
})

// ServedPolicy is the content policy of every page that a server hands out: its own
// script and style sheet run.
func ServedPolicy() string {
	return fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s' '%s'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		digest(script), digest(styleSheet), digest(styleSheet+liveStyle))
}

// RunAddress is the path of a run's page on a server.
func RunAddress(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return "/runs/" + strings.Join(parts, "/") + "/"
}

// served is what every page of a server has.
type served struct {
	Title string
	Style template.CSS
}

func servedPage(title string) served { return served{title, template.CSS(styleSheet + liveStyle)} }

// LivePage writes the page of a run as it is. While the run goes on, the page loads itself
// again.
func LivePage(w io.Writer, s follow.Snapshot) error {
	plan := cells.PlanOf(s.Header)
	return writeServed(w, "live-page", struct {
		served
		Question, Made, Path string
		Running              bool
		Progress             liveProgress
		Now                  liveTrial
		Found                liveFound
	}{
		servedPage(plan.Title()), plan.Question, newLayout(finding.Findings{Run: compare.Run{Header: s.Header}}).made(), s.Path,
		s.State == follow.Running, progressView(s), nowView(s), foundView(s),
	})
}

// RunsList is the list of runs in a directory.
type RunsList struct {
	Dir  string
	Runs []follow.Entry
	More int // that are not listed
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
	shown := printable.NewWriter(w)
	if err := liveTemplate().ExecuteTemplate(shown, name, view); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return shown.Flush()
}
