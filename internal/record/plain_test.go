package record

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// Every line of the runs that are kept here is plain, and says the same to encoding/json.
func TestPlainLinesReadAsEncodingJSONReadsThem(t *testing.T) {
	files, err := filepath.Glob("../../test/limits/testdata/*/" + RecordsFile)
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d runs: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.SplitAfter(text, []byte("\n")) {
			body, err := decodeLine(line)
			if i == 0 || err != nil {
				continue
			}
			var plain, general recordLine
			if !plainLines().Read(body, &plain) {
				t.Errorf("%s:%d is not read as plain", file, i+1)
			} else if err := json.Unmarshal(body, &general); err != nil || !reflect.DeepEqual(plain, general) {
				t.Errorf("%s:%d reads otherwise by encoding/json (%v)", file, i+1, err)
			}
		}
	}
}

// Whatever is read as plain says the same to the general decoder.
func FuzzPlainLines(f *testing.F) {
	line, err := json.Marshal(testRecord("b01-001"))
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{
		string(line), `{"schema":1,"trial":{"id":"a","levels":{"a":"b"},"seed":18446744073709551615}}`, `{"after":null}`, `{"after":{}}`, `{"schema":-1}`,
		`{"workers":[{"name":"client-1","cpu_set":[1,2],"setup":{"load":{"rate":1e3,"phases":[[1,2.5,3e-2]]},"options":{"a":1,"b":[null,true]}}}]}`,
		`{"workers":[{"at_ready":{"interfaces":{"lo":{"drops":1}},"pressure":{"cpu":3}}}]}`, `{"noise":{"load_average":-0.5}}`, `{"schema":01}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var plain recordLine
		if !plainLines().Read(text, &plain) {
			return
		}
		if general, err := decodeAny(text); err != nil || !reflect.DeepEqual(plain, general) {
			t.Errorf("%s: read as plain as %+v, by the general decoder as %+v, %v", text, plain, general, err)
		}
	})
}
