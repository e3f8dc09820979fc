package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/head"
	"netdyno/internal/quantity"
	"netdyno/internal/rows"
	"netdyno/internal/run/feed"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
	"netdyno/internal/run/target"
)

// pickRandom is the level of --pick for rows in any order.
const pickRandom = "random"

// filledClasses are the templates of a workload's classes, in their order.
type filledClasses struct{ bodies, paths []string }

// feeds makes the requests of the targets differ, by the rows of --data-from and by what is
// made, and tells whether they do. It puts templates in the place of what classes send.
func (t *urlFlags) feeds(ctx context.Context, targets []target.Target, w *source.WorkloadFile) (fills bool, err error) {
	switch {
	case t.pick != "" && t.pick != "next" && t.pick != pickRandom:
		return false, fmt.Errorf("--pick %s: %s", quantity.Clip(t.pick, 40), quantity.Hint(t.pick, []string{"next", pickRandom}))
	case t.pick != "" && t.dataFrom == "":
		return false, errors.New("--pick says which row of a file a request takes; name the file with --data-from FILE")
	case t.workload != "" && w == nil && t.dataFrom != "":
		return false, errors.New("--data-from does not go with recorded traffic, which says itself what is asked for; the classes of a workload file take {column} in path and body")
	}
	f, err := feed.Open(ctx, t.dataFrom, w != nil && w.Keys != nil)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := t.refuseTemplates(f); err != nil {
		return false, err
	}
	for i := range targets {
		if err := targets[i].Compile(ctx, f); err != nil {
			return false, err
		}
	}
	classes, err := t.compileClasses(f, w)
	if err != nil {
		return false, err
	}
	for _, text := range f.Remarks {
		remark(text)
	}
	if err := f.Check(); err != nil || !f.Live() {
		return false, err
	}
	if classes != nil {
		t.classPaths = classes.paths
		for i, body := range w.Bodies {
			w.Bodies[i].Text = classes.bodies[body.Class]
		}
	}
	file, carried, err := convert(f)
	if err != nil {
		return false, err
	}
	for i := range targets {
		targets[i].Feed(file, carried, t.pick == pickRandom)
	}
	stdout.say("%s", f.Words(t.pick == pickRandom))
	return true, nil
}

// refuseTemplates refuses those that stand where none is filled.
func (t *urlFlags) refuseTemplates(f *feed.Feed) error {
	for _, other := range []struct{ flag, text string }{
		{"--user", t.words.User}, {"--host", t.Host}, {"--paths", strings.Join(t.Paths, "\n")},
	} {
		if err := f.Refuse(other.flag, other.text); err != nil {
			return err
		}
	}
	return nil
}

// convert reads the rows into a file of this process's own, which is as secret as they are.
func convert(f *feed.Feed) (*rows.File, study.Carried, error) {
	directory, err := session.ForRows()
	if err != nil {
		return nil, study.Carried{}, err
	}
	carried := study.Carried{Secret: true, File: filepath.Join(directory, "rows")}
	if err := f.Convert(carried.File); err != nil {
		return nil, carried, err
	}
	file, err := rows.Open(carried.File)
	return file, carried, err
}

// compileClasses makes templates of what a workload's classes send and ask for; nil without
// classes. Where nothing but {key} in paths is filled the requests need no rows, and the feed
// is not live.
func (t *urlFlags) compileClasses(f *feed.Feed, w *source.WorkloadFile) (*filledClasses, error) {
	if w == nil {
		return nil, nil
	}
	all := &filledClasses{make([]string, len(w.Classes)), make([]string, len(w.Classes))}
	fields, err := head.Parse(strings.Join(t.words.Headers, "\n"))
	if err != nil {
		return nil, err
	}
	media, _, _ := head.Take(fields, "Content-Type")
	for i, class := range w.Classes {
		text, _ := bodyOf(w, i)
		if all.bodies[i], err = f.Template(feed.PlaceOf(media, text), "class "+class.Name+": body", text); err != nil {
			return nil, err
		}
	}
	key := "{" + rows.Key + "}"
	others := func(c contract.Class) bool { return strings.Contains(strings.ReplaceAll(c.Path, key, ""), "{") }
	if !f.Live() && t.dataFrom == "" && !slices.ContainsFunc(w.Classes, others) {
		return all, nil
	}
	said := len(f.Remarks)
	for i, class := range w.Classes {
		if all.paths[i], err = f.Template(feed.URL, "class "+class.Name+": path", class.Path); err != nil {
			return nil, err
		}
		if len(f.Remarks) > said {
			return nil, fmt.Errorf("class %s: path %q names nothing that is known; --data-from FILE gives {column} a value, and {uuid}, {n}, {random:8} and {now} are made", class.Name, quantity.Clip(class.Path, 80))
		}
	}
	return all, nil
}
