//go:build soak

package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	reader "github.com/parquet-go/parquet-go"
)

// another implementation reads what ours wrote: its columns, and rows as CSV has them.
func readParquet(t *testing.T, data []byte) (columns []string, rows [][]reader.Value, file *reader.File) {
	t.Helper()
	file, err := reader.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Schema().Fields() {
		columns = append(columns, c.Name())
	}
	for _, g := range file.RowGroups() {
		r := g.Rows()
		buffer := make([]reader.Row, 7)
		for {
			n, err := r.ReadRows(buffer)
			for _, row := range buffer[:n] {
				rows = append(rows, row.Clone())
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return columns, rows, file
}

// textOf is a value of Parquet as CSV has it.
func textOf(v reader.Value, k kind) string {
	switch {
	case v.IsNull():
		return ""
	case k == instant:
		return time.UnixMicro(v.Int64()).UTC().Format(time.RFC3339Nano)
	case k == floating:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	}
	return v.String()
}

func TestAnotherLibraryReadsParquet(t *testing.T) {
	for _, table := range Tables() {
		r := small()
		c, err := table.build(r)
		if err != nil {
			t.Fatal(err)
		}
		want := readSheet(t, written(t, "csv", r, table.Name))
		columns, rows, file := readParquet(t, written(t, "parquet", r, table.Name))
		if fmt.Sprint(columns) != fmt.Sprint(want.columns) || len(rows) != len(want.rows) || len(rows) == 0 {
			t.Fatalf("%s: %d rows of %q, want %d of %q", table.Name, len(rows), columns, len(want.rows), want.columns)
		}
		for i, row := range rows {
			for j, value := range row {
				if got := textOf(value, c.columns[j].kind); got != want.rows[i][columns[j]] {
					t.Errorf("%s, row %d: %s is %q, want %q", table.Name, i, columns[j], got, want.rows[i][columns[j]])
				}
			}
		}
		if unit, ok := file.Lookup("unit:server.cpu_us_per_exchange"); table.Name == "trials" && (!ok || unit != "µs/exchange") {
			t.Errorf("the unit of CPU is %q", unit)
		}
	}
}

// Names are kept as they are; only what is not UTF-8 is not.
func TestHostileNamesInParquet(t *testing.T) {
	r := hostileRun()
	columns, rows, _ := readParquet(t, written(t, "parquet", r, ""))
	for i, row := range rows {
		for j, value := range row {
			if want := strings.ToValidUTF8(r.Plan[i].Arm, "\uFFFD"); columns[j] == "arm" && value.String() != want {
				t.Errorf("arm %q, want %q", value.String(), want)
			}
		}
	}
	if len(rows) != len(r.Plan) {
		t.Errorf("%d rows for %d trials", len(rows), len(r.Plan))
	}
}

func TestGroupsOfRows(t *testing.T) {
	var b bytes.Buffer
	if err := writeParquet(&b, small(), manyRows()); err != nil {
		t.Fatal(err)
	}
	_, rows, file := readParquet(t, b.Bytes())
	if len(rows) != manyRowsNumber || len(file.RowGroups()) != 3 || file.NumRows() != manyRowsNumber {
		t.Fatalf("%d rows in %d groups", len(rows), len(file.RowGroups()))
	}
	for i, row := range rows {
		want := manyRow(i)
		if row[0].IsNull() != (want[0] == nil) {
			t.Fatalf("row %d: %v, want %v", i, row, want)
		}
		if want[0] == nil {
			continue
		}
		if row[0].String() != want[0] || math.Abs(row[1].Double()-float64(i)/3) > 0 || row[2].Int64() != int64(-i) || row[3].Boolean() != (i%2 == 0) || row[4].Int64() != int64(i) {
			t.Fatalf("row %d: %v, want %v", i, row, want)
		}
	}
}
