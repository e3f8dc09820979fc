package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/printable"
)

// writeCSV writes a table as RFC 4180 has it, with a header, in UTF-8. Lines end in LF,
// and nothing is in two of them: text is made printable, so a line break in a name or a
// reason is a dot.
func writeCSV(w io.Writer, r Run, table Table) error {
	c, err := table.build(r)
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	line := make([]string, len(c.columns))
	for i, column := range c.columns {
		line[i] = unformulated(printable.Text(column))
	}
	if err := out.Write(line); err != nil {
		return err
	}
	err = c.each(func(cells row) error {
		for i, cell := range cells {
			line[i] = csvText(cell)
		}
		return out.Write(line)
	})
	out.Flush()
	if err != nil {
		return err
	}
	return out.Error()
}

// csvText is a cell as CSV has it; what is absent is empty.
func csvText(cell any) string {
	switch x := cell.(type) {
	case nil:
		return ""
	case string:
		return unformulated(printable.Text(x))
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case time.Time:
		return x.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(cell)
}

// unformulated returns text that a spreadsheet does not take for a formula: what begins
// like one has an apostrophe before it.
func unformulated(s string) string {
	if s == "" || !strings.ContainsRune("=+-@", rune(s[0])) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}
