package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"netdyno/internal/printable"
	"netdyno/internal/read/follow"
	"netdyno/internal/read/report"
)

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.list)
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
		text, err := s.watched.pageOf(name)
		answer(w, text, err)
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

// list shows the runs.
func (s *server) list(w http.ResponseWriter, _ *http.Request) {
	const shown = 500
	runs, more, err := s.Results.List()
	if err != nil {
		fail(w, fmt.Errorf("%s cannot be read any more: %w", s.Results.Dir(), err))
		return
	}
	if beyond := len(runs) - shown; beyond > 0 {
		runs, more = runs[:shown], more+beyond
	}
	page(w, func(b *bytes.Buffer) error {
		return report.RunsPage(b, report.RunsList{Dir: s.Results.Dir(), Runs: runs, More: more})
	})
}

// report is a run's report, which is made again when the run has changed.
func (s *server) report(w http.ResponseWriter, r *http.Request, name string) {
	stamp, err := s.Results.Stamp(name)
	if err != nil {
		fail(w, err)
		return
	}
	text, err := s.built.page(r.Context(), name, stamp, func(b *bytes.Buffer) error {
		found, err := s.Results.Find(name)
		if err != nil {
			return err
		}
		return report.New(found).HTML(b)
	})
	answer(w, text, err)
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
