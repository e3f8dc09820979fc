package export

import (
	"bytes"
	"crypto/sha256"
	flags "flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flags.Bool("update", false, "rewrite the sums of Parquet files; run make soak before")

// parquetSums are the files that another implementation has read.
const parquetSums = "testdata/parquet.sums"

// A file with every kind of value, present and absent, has the bytes that another library
// has read. That library takes longer to compile than this whole package, so only make
// soak reads the tables of a run by it.
func TestParquetIsWhatAnotherLibraryRead(t *testing.T) {
	var got strings.Builder
	enter := func(name string, data []byte) { fmt.Fprintf(&got, "%x %s\n", sha256.Sum256(data), name) }
	var b bytes.Buffer
	if err := writeParquet(&b, small(), manyRows()); err != nil {
		t.Fatal(err)
	}
	enter("groups", b.Bytes())
	if *update {
		if err := os.WriteFile(parquetSums, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(parquetSums)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the file has other content than the one that parquet-go read:\n%s\nwant:\n%s\nlet it read this one (make soak), then rewrite %s with -update", got.String(), want, parquetSums)
	}
}

const manyRowsNumber = 2*groupRows + 3

// manyRow is a row of manyRows, with every kind of value, present and absent.
func manyRow(i int) row {
	if i%3 == 1 || i > groupRows && i < groupRows+900 {
		return row{nil, nil, nil, nil, nil}
	}
	return row{fmt.Sprint("é", i), float64(i) / 3, int64(-i), i%2 == 0, time.UnixMicro(int64(i)).UTC()}
}

// manyRows has more rows than a group holds.
func manyRows() Table {
	return Table{build: func(Run) (content, error) {
		return content{
			columns: []column{{name: "text"}, {name: "real", kind: floating}, {name: "whole", kind: whole}, {name: "flag", kind: flag}, {name: "at", kind: instant}},
			each: func(yield func(row) error) error {
				for i := range manyRowsNumber {
					if err := yield(manyRow(i)); err != nil {
						return err
					}
				}
				return nil
			},
		}, nil
	}}
}
