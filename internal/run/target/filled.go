package target

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/head"
	"netdyno/internal/rows"
	"netdyno/internal/run/feed"
	"netdyno/internal/run/study"
)

// templates are what a target's requests are filled by, each with another row.
type templates struct {
	Begins uint64 // number of the first request

	filledPath, filledHeaders, filledBody string       // as workers read them; "" before Compile
	source                                *rows.Source // nil before Feed
	columns                               int
	random                                bool
	rows                                  study.Carried
}

// Compile makes templates of what the target's requests carry, for a Feed that is then
// read. Feed puts them in place.
func (t *Target) Compile(ctx context.Context, f *feed.Feed) error {
	u, err := Parse(t.URL)
	if err != nil && f.Refuse("the URL", t.URL) != nil {
		return fmt.Errorf("%q: a template may stand in the path, the query, a header's value or the body, and after the host a path begins", t.URL)
	}
	if err != nil {
		return err
	}
	if !slices.Contains([]string{"http", "https", "ws", "wss"}, u.Scheme) {
		texts := append([]string{t.URL, t.Data, t.Body}, t.Headers...)
		for i, text := range texts {
			texts[i] = t.Fill.plain(text, func(string) string { return "" }) // what --take fills is no template
		}
		return f.OfHTTP(u.Scheme, texts)
	}
	_, text := socketOf(t.URL)
	text, _, _ = strings.Cut(text, "#")
	_, rest, _ := strings.Cut(text, "://")
	from := strings.IndexAny(rest, "/?")
	if from < 0 {
		from = len(rest)
	}
	if err := f.Refuse("the URL's host", rest[:from]); err != nil {
		return err
	}
	fields, err := t.fields()
	if err != nil {
		return err
	}
	body, err := t.body(ctx)
	if err != nil {
		return err
	}
	t.Body, t.BodyFile = body, "" // standard input is read once
	path := rest[from:]
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if path, err = f.Template(feed.URL, "the URL", t.Fill.url(path)); err != nil {
		return err
	}
	if t.filledPath, err = feed.Escaped(path, escaped); err != nil {
		return err
	}
	for i, field := range fields {
		refuses := strings.EqualFold(field.Name, "Host")
		if refuses {
			err = f.Refuse("header Host", field.Value)
		}
		if err == nil {
			fields[i].Value, err = f.Template(feed.Header, "header "+field.Name, field.Value)
		}
		if err != nil {
			return err
		}
	}
	t.filledHeaders = head.Text(fields)
	media, _, _ := head.Take(fields, "Content-Type")
	t.filledBody, err = f.Template(feed.PlaceOf(media, t.Body), "the body", t.Body)
	return err
}

// Feed puts the templates in place: requests take the rows of a file, which carried brings
// to the workers.
func (t *Target) Feed(file *rows.File, carried study.Carried, random bool) {
	t.source, t.rows, t.random = rows.NewSource(file, 0, 0, random), carried, random
	t.columns = file.Columns
	t.Headers, t.Body = strings.Split(t.filledHeaders, "\n"), t.filledBody
}

// with is a template, filled with a row. Compile made it.
func (t Target) with(template string, row rows.Row) string {
	parsed, err := rows.ParseTemplate(template, t.columns)
	if err != nil {
		panic(err)
	}
	return string(parsed.Append(nil, row))
}

// filled is request number n: the target with its headers and classes, its URL and its body.
func (t Target) filled(u *url.URL, body string, n uint64) (one Target, where *url.URL, carries string, err error) {
	if t.source == nil {
		return t, u, body, nil
	}
	const key = 1 // stands for {key}
	row := t.source.Of(t.Begins+n, key)
	one, where = t, u
	if t.differs() {
		where, err = url.Parse(u.Scheme + "://" + u.Host + t.with(t.filledPath, row))
	}
	one.Headers = strings.Split(t.with(strings.Join(t.Headers, "\n"), row), "\n")
	one.Classes = slices.Clone(t.Classes)
	for i, c := range one.Classes {
		one.Classes[i].Path, one.Classes[i].Body = t.with(c.Path, row), t.with(c.Body, row)
	}
	return one, where, t.with(body, row), err
}

// differs tells whether requests have different paths.
func (t Target) differs() bool {
	parsed, err := rows.ParseTemplate(t.filledPath, t.columns)
	return t.source != nil && err == nil && !parsed.Fixed()
}

// addRows adds the options by which a client fills its requests.
func (t Target) addRows(f *Found) {
	if t.source == nil {
		return
	}
	f.Texts["opt.client.data"] = t.rows
	if t.random {
		f.Levels["opt.client.pick"] = "random"
	}
	f.Levels[firstOption] = strconv.FormatUint(t.Begins+uint64(t.asked.Load()), 10)
}

const firstOption = "opt.client.data_first"

// Begin says that a run begins with request number n, where requests differ.
func (f *Found) Begin(n uint64) {
	if f.Levels[firstOption] != "" {
		f.Levels[firstOption] = strconv.FormatUint(n, 10)
	}
}
