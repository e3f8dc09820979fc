package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/collection"
)

// collectionNamed is a format of what other tools know of an API.
func collectionNamed(name string) (collection.Format, bool) {
	for _, f := range collection.Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return collection.Format{}, false
}

// collect makes a workload file of a collection and says how to go on.
func (r recording) collect(ctx context.Context, f collection.Format, files []string) error {
	if len(files) != 1 {
		return fmt.Errorf("%s takes one file; found %d", f.Name, len(files))
	}
	if r.Paths {
		return fmt.Errorf("--paths goes with logs; a workload made by %s has the paths", f.Name)
	}
	out := r.out
	if out == "" {
		out = strings.TrimSuffix(files[0], filepath.Ext(files[0])) + ".workload.yaml"
	}
	if _, err := os.Lstat(out); err == nil {
		return fmt.Errorf("%s is there already, and may have been edited; remove it, or name another by -o", out)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	o := r.collection
	o.Methods, o.Only = r.Methods, r.Only
	w, err := collection.Make(ctx, f, files[0], out, o)
	if err != nil {
		return err
	}
	for name, body := range w.Bodies {
		name = filepath.Join(filepath.Dir(out), name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := record.WriteFileAtomic(name, body); err != nil {
			return err
		}
	}
	if err := record.WriteFileAtomic(out, w.Text); err != nil {
		return err
	}
	stdout.say("%s: %s, all as often; edit weights, paths and bodies there", out, quantity.Plural(w.Classes, "request"))
	for _, note := range w.Notes {
		stdout.say("  %s", note)
	}
	base, command := w.Base, ""
	for _, h := range w.Headers {
		command += " -H '" + h + "'"
	}
	if base == "" {
		base = "http://HOST:PORT"
	}
	stdout.say("netdyno %s --workload %s%s", base, out, command)
	return nil
}
