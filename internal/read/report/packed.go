package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"

	"netdyno/internal/printable"
)

// pack returns what write writes as base64 of its gzip: how the page holds what is
// large. The script unpacks it when it is needed. The result is only letters, digits
// and "+/=", so that it is safe wherever it stands.
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
