package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"netdyno/internal/printable"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/follow"
	"netdyno/internal/read/history"
	"netdyno/internal/read/report"
)

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.list)
	mux.HandleFunc("GET /compare", s.compare)
	mux.HandleFunc("GET /runs/{path...}", s.run)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		message(w, http.StatusNotFound, "Not found", "There is no such page.")
	})
	return mux
}

// run finds out what is asked of which run: a run's name may have two parts, and what
// is asked of it stands behind.
func (s *server) run(w http.ResponseWriter, r *http.Request) {
	path := r.PathValue("path")
	name, what := path, ""
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		name, what = path[:i], path[i+1:]
	} else if path != "" {
		http.Redirect(w, r, report.RunAddress(path), http.StatusSeeOther)
		return
	}
	trial, isTrial := strings.CutSuffix(what, ".json")
	ofTrial, inTrials := strings.CutSuffix(name, "/trials")
	ofProfile, inProfiles := strings.CutSuffix(name, "/profiles")
	switch {
	case what == "":
		s.live(w, r, name)
	case what == "events":
		s.events(w, r, name)
	case what == "report.html":
		s.report(w, r, name)
	case isTrial && inTrials:
		s.trial(w, ofTrial, trial)
	case inProfiles && strings.HasSuffix(what, ".pprof"):
		s.profile(w, r, ofProfile, what)
	default:
		message(w, http.StatusNotFound, "Not found", "There is no such page of a run.")
	}
}

// list shows the runs, or those that the address asks for.
func (s *server) list(w http.ResponseWriter, r *http.Request) {
	const shown = 500
	runs, more, err := s.Results.List()
	if err != nil {
		fail(w, fmt.Errorf("%s cannot be read any more: %w", s.Results.Dir(), err))
		return
	}
	asked := r.URL.Query()
	want := follow.Wanted{Words: asked.Get("words"), Study: asked.Get("study"), Kind: asked.Get("kind"), State: asked.Get("state")}
	of := func(what func(follow.Entry) string) []string {
		var all []string
		for _, run := range runs {
			if word := what(run); word != "" {
				all = append(all, word)
			}
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	l := report.RunsList{
		Dir: s.Results.Dir(), All: len(runs), More: more, Asked: want, Tours: tours(runs),
		Choice: []report.ListChoice{
			{Name: "study", Chosen: want.Study, Of: of(func(e follow.Entry) string { return e.Study })},
			{Name: "kind", Chosen: want.Kind, Of: of(func(e follow.Entry) string { return e.Kind })},
			{Name: "state", Chosen: want.State, Of: of(func(e follow.Entry) string { return string(e.State) })},
		},
		Runs: slices.DeleteFunc(runs, func(e follow.Entry) bool { return !want.Holds(e) }),
	}
	if beyond := len(l.Runs) - shown; beyond > 0 {
		l.Runs, l.More = l.Runs[:shown], l.More+beyond
	}
	page(w, func(b *bytes.Buffer) error { return report.RunsPage(b, l) })
}

// tours are the directories that hold several runs, the newest first.
func tours(runs []follow.Entry) []string {
	var all []string
	for _, run := range runs {
		if dir, _, within := strings.Cut(run.Name, "/"); within && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	return all
}

// tour is the page of a directory of several runs; false where there is none.
func (s *server) tour(w http.ResponseWriter, r *http.Request, dir string) bool {
	runs, _, err := s.Results.List()
	if err != nil || !slices.Contains(tours(runs), dir) {
		return false
	}
	runs = slices.DeleteFunc(runs, func(e follow.Entry) bool { return !strings.HasPrefix(e.Name, dir+"/") || e.Trouble != "" })
	slices.Reverse(runs) // in the order in which they ran
	var names []string
	for _, run := range runs {
		names = append(names, run.Name)
	}
	s.build(w, r, dir, names, func(b *bytes.Buffer) error {
		var entries []report.Entry
		for _, name := range names {
			found, err := s.Results.Find(name, false)
			if err != nil {
				return err
			}
			entries = append(entries, report.New(found).Entry(report.RunAddress(name)+"report.html"))
		}
		return report.Index(dir, entries).HTML(b)
	})
	return true
}

// build answers with a page made of some runs, which is made again when one of them has
// changed.
func (s *server) build(w http.ResponseWriter, r *http.Request, key string, names []string, render func(*bytes.Buffer) error) {
	var stamps []string
	for _, name := range names {
		stamp, err := s.Results.Stamp(name)
		if err != nil {
			fail(w, err)
			return
		}
		stamps = append(stamps, stamp)
	}
	text, err := s.built.page(r.Context(), key, strings.Join(stamps, " "), render)
	answer(w, text, err)
}

// live is a run's page as it is now.
func (s *server) live(w http.ResponseWriter, r *http.Request, name string) {
	feed, err := s.feeds.join(name)
	if errors.Is(err, follow.ErrNoRun) && s.tour(w, r, name) {
		return
	}
	if err != nil {
		fail(w, err)
		return
	}
	defer s.feeds.leave(name, feed)
	page(w, func(b *bytes.Buffer) error { return feed.page(r.Context(), b) })
}

func (s *server) report(w http.ResponseWriter, r *http.Request, name string) {
	s.build(w, r, name, []string{name}, func(b *bytes.Buffer) error {
		found, err := s.Results.Find(name, false)
		if err != nil {
			return err
		}
		return report.New(found).HTML(b)
	})
}

func (s *server) compare(w http.ResponseWriter, r *http.Request) {
	names := r.URL.Query()["run"]
	if len(names) != 2 || names[0] == names[1] {
		message(w, http.StatusBadRequest, "Two runs are compared", "Tick two runs in the list, then compare them.")
		return
	}
	s.build(w, r, strings.Join(names, "\n"), names, func(b *bytes.Buffer) error { return s.compared(b, names) })
}

// compared draws two runs, the earlier one first.
func (s *server) compared(b *bytes.Buffer, names []string) error {
	runs := make([]finding.Findings, len(names))
	for i, name := range names {
		var err error
		if runs[i], err = s.Results.Find(name, true); err != nil {
			return err
		}
		if len(runs[i].Header.Listen) > 0 {
			return fmt.Errorf("%s is a directory of netdyno listen; compare the runs that drove it", name)
		}
	}
	if runs[1].Header.CreatedAt.Before(runs[0].Header.CreatedAt) {
		runs[0], runs[1], names[0], names[1] = runs[1], runs[0], names[1], names[0]
	}
	calibration := runs[1].Header.Facts.Calibration
	if known, err := s.Calibration(runs[1].Header.Facts); err != nil {
		return err
	} else if known != nil {
		calibration = known
	}
	apart := history.CompareRuns(runs[0].Run, runs[1].Run, calibration)
	var places [2]report.RunPlace
	for i := range places {
		places[i] = report.RunPlace{Name: names[i], Report: report.RunAddress(names[i]) + "report.html"}
	}
	return report.NewRuns(apart, runs[0], runs[1], places).HTML(b)
}

func (s *server) trial(w http.ResponseWriter, name, id string) {
	body, err := s.Results.Record(name, id)
	switch {
	case err != nil:
		fail(w, err)
	case body == nil:
		message(w, http.StatusNotFound, "Not found", "The run has no record of such a trial.")
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body) // the reader may be gone
	}
}

// profile hands out a file that browsers keep and do not show.
func (s *server) profile(w http.ResponseWriter, r *http.Request, name, file string) {
	f, err := s.Results.Profile(name, file)
	if err != nil {
		fail(w, err)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment")
	http.ServeContent(w, r, "", time.Time{}, f)
}

// page writes a page that build makes.
func page(w http.ResponseWriter, build func(*bytes.Buffer) error) {
	var b bytes.Buffer
	err := build(&b)
	answer(w, b.Bytes(), err)
}

func answer(w http.ResponseWriter, text []byte, err error) {
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(text) // the reader may be gone
}

// fail says why there is no page.
func fail(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, follow.ErrNoRun):
		message(w, http.StatusNotFound, "No such run", "There is no such run here, or not any more.")
	case errors.Is(err, errFull):
		w.Header().Set("Retry-After", "10")
		message(w, http.StatusServiceUnavailable, "Too many readers", fmt.Sprintf("%d browsers follow runs here already, which is the most. Try again later.", maxFollowers))
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		message(w, http.StatusServiceUnavailable, "Ending", "The server ends.")
	case errors.Is(err, fs.ErrNotExist):
		message(w, http.StatusNotFound, "Gone", err.Error())
	default:
		message(w, http.StatusInternalServerError, "It cannot be read", err.Error())
	}
}

func message(w http.ResponseWriter, status int, title, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = report.MessagePage(w, title, printable.Text(text)) // the reader may be gone
}
