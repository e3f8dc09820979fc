// Package feed is what fills the requests of a run by URL, a different one each time: the
// rows of a file, or values that are made, which templates name as {column} or {uuid}.
package feed

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"netdyno/internal/input"
	"netdyno/internal/quantity"
	"netdyno/internal/rows"
)

// mostRows bounds what is kept of a file, in bytes.
const mostRows = 16 << 30

// Feed is what fills the requests of a run. One goroutine uses it.
type Feed struct {
	Rows    uint64   // once they are read
	Remarks []string // what goes out as it is though it looks like a template

	shown   string // the file's name; "" without one
	columns []string
	keys    bool // {key} is known
	form    form
	lines   *lines
	from    io.Closer

	used  []int    // columns that templates name, by their numbers in what workers read
	head  []int    // those of them that stand in headers
	makes []string // values that are made, as templates name them
}

// Open reads the head of a file, or of standard input for "-": its columns. Without a name
// there are only values that are made. keys says that {key} is one.
func Open(ctx context.Context, name string, keys bool) (*Feed, error) {
	f := &Feed{keys: keys}
	if name == "" {
		return f, nil
	}
	f.shown = name
	if name == "-" {
		name, f.shown = "/dev/stdin", "standard input"
	}
	from, err := input.Stream(ctx, name)
	if err == nil {
		f.from, f.lines = from, newLines(from)
		err = f.begin(name)
	}
	if err != nil {
		return nil, errors.Join(f.wrong(err), f.Close())
	}
	return f, nil
}

// Close closes the file.
func (f *Feed) Close() error {
	if f.from == nil {
		return nil
	}
	return f.from.Close()
}

// wrong says where the data are wrong.
func (f *Feed) wrong(err error) error {
	at := ""
	if f.lines != nil && f.lines.begins > 0 {
		at = fmt.Sprintf(":%d", f.lines.begins)
	}
	return fmt.Errorf("--data-from %s%s: %w", quantity.Clip(f.shown, 200), at, err)
}

// begin learns the form and the columns.
func (f *Feed) begin(name string) (err error) {
	begin, err := f.lines.peek()
	if err != nil {
		return err
	}
	if f.form, err = formOf(name, begin); err != nil {
		return err
	}
	if f.columns, err = f.form.columns(f.lines); errors.Is(err, io.EOF) {
		return errors.New("it is empty")
	}
	return err
}

// Live tells whether requests differ.
func (f *Feed) Live() bool { return len(f.used)+len(f.makes) > 0 }

// Check refuses a file that no template names a column of.
func (f *Feed) Check() error {
	if f.shown == "" || len(f.used) > 0 {
		return nil
	}
	f.lines.begins = 0
	return f.wrong(fmt.Errorf("nothing that is sent names a column of it; write %s in the URL, a header or the body", strings.Join(f.named(), " or ")))
}

// named are the first columns as templates name them.
func (f *Feed) named() []string {
	var all []string
	for _, c := range f.columns[:min(len(f.columns), 5)] {
		all = append(all, "{"+quantity.Clip(c, 40)+"}")
	}
	return all
}

// Words say what the requests are filled with.
func (f *Feed) Words(random bool) string {
	if len(f.used) == 0 {
		return "each request is filled with values of its own: {" + strings.Join(f.makes, "}, {") + "}"
	}
	var all []string
	for _, c := range f.used {
		all = append(all, "{"+quantity.Clip(f.columns[c], 40)+"}")
	}
	for _, name := range f.makes {
		all = append(all, "{"+name+"}")
	}
	how := "the next row, from the first again after the last"
	if random {
		how = "a random row"
	}
	return fmt.Sprintf("each request is filled with %s, of %s in %s: %s", how, quantity.Plural(int(f.Rows), "row"), quantity.Clip(f.shown, 200), strings.Join(all, ", "))
}

// Convert reads the rows and writes them to a file for the workers, of the columns that
// templates name. The error names the file and the line.
func (f *Feed) Convert(to string) error {
	w, err := rows.Create(to, len(f.used))
	if err != nil {
		return fmt.Errorf("keep the rows while the run goes on: %w", err)
	}
	if f.shown != "" {
		err = f.convert(w)
	}
	var salt [8]byte
	_, _ = rand.Read(salt[:]) // it never fails
	if closed := w.Close(binary.LittleEndian.Uint64(salt[:])); err == nil && closed != nil {
		err = fmt.Errorf("keep the rows while the run goes on: %w", closed)
	}
	return err
}

func (f *Feed) convert(w *rows.Writer) error {
	fields, in := make([][]byte, len(f.columns)), make([]bool, len(f.columns))
	for _, c := range f.used {
		in[c] = true
	}
	for ; ; f.Rows++ {
		err := f.form.row(f.lines, fields, in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return f.wrong(err)
		}
		for _, c := range f.head {
			if i := slices.IndexFunc(fields[c], func(b byte) bool { return b < ' ' && b != '\t' || b == 0x7f }); i >= 0 {
				return f.wrong(fmt.Errorf("column %q has the byte 0x%02X, which no header can have", quantity.Clip(f.columns[c], 40), fields[c][i]))
			}
		}
		for _, c := range f.used {
			if len(fields[c]) > rows.MostField {
				return f.wrong(fmt.Errorf("column %q has %d bytes; expected at most %d", quantity.Clip(f.columns[c], 40), len(fields[c]), rows.MostField))
			}
			if err := w.Add(fields[c]); err != nil {
				return fmt.Errorf("keep the rows while the run goes on: %w", err)
			}
		}
		if w.Size() > mostRows {
			return f.wrong(fmt.Errorf("its rows have more than %d bytes, the most that are taken", int64(mostRows)))
		}
	}
	if f.Rows == 0 {
		return f.wrong(errors.New(cmp.Or(f.form.without(), "it has no rows")))
	}
	return nil
}
