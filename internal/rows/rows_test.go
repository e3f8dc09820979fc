package rows_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"netdyno/internal/rows"
)

type vectors struct {
	Files map[string]struct {
		Hex           string
		Columns, Rows int
	}
	Requests []struct {
		File, Template, Pick string
		Seed, First          uint64
		Key                  int64
		Numbers              []uint64
		Texts                []string
	}
	Refused []struct {
		Template string
		Columns  int
	}
	Damaged []struct{ Name, Hex string }
}

func fileOf(t testing.TB, digits string) []byte {
	text, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What requests are filled with is what every worker fills them with.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "contract", "vectors", "data.json"))
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil || len(v.Requests) < 10 || len(v.Refused) < 15 || len(v.Damaged) < 12 {
		t.Fatalf("%d requests, %d refused, %d damaged; %v", len(v.Requests), len(v.Refused), len(v.Damaged), err)
	}
	files := map[string]*rows.File{}
	for name, of := range v.Files {
		f, err := rows.Parse(fileOf(t, of.Hex))
		if err != nil || f.Columns != of.Columns || f.Rows != uint64(of.Rows) {
			t.Fatalf("%s: %+v, %v", name, f, err)
		}
		files[name] = f
	}
	for _, r := range v.Requests {
		template, err := rows.ParseTemplate(r.Template, files[r.File].Columns)
		if err != nil {
			t.Errorf("%s: %v", r.Template, err)
			continue
		}
		source := rows.NewSource(files[r.File], r.Seed, r.First, r.Pick == "random")
		for i, n := range r.Numbers {
			if got := string(template.Append(nil, source.Of(n, r.Key))); got != r.Texts[i] {
				t.Errorf("%s, seed %d: number %d is %q, want %q", r.Template, r.Seed, n, got, r.Texts[i])
			}
		}
	}
	for _, r := range v.Refused {
		if _, err := rows.ParseTemplate(r.Template, r.Columns); err == nil {
			t.Errorf("%s: accepted", r.Template)
		}
	}
	for _, d := range v.Damaged {
		if _, err := rows.Parse(fileOf(t, d.Hex)); err == nil {
			t.Errorf("%s: accepted", d.Name)
		}
	}
}

// What is written is read.
func TestWhatIsWrittenIsRead(t *testing.T) {
	directory := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		name := filepath.Join(directory, "rows")
		defer os.Remove(name)
		columns := rapid.IntRange(1, 4).Draw(t, "columns")
		want := rapid.SliceOfN(rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 20), columns, columns), 1, 20).Draw(t, "rows")
		w, err := rows.Create(name, columns)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range want {
			for _, field := range row {
				if err := w.Add(field); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(5); err != nil {
			t.Fatal(err)
		}
		f, err := rows.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Rows != uint64(len(want)) || f.Columns != columns {
			t.Fatalf("%d rows of %d columns, want %d of %d", f.Rows, f.Columns, len(want), columns)
		}
		for i, row := range want {
			for c, field := range row {
				if got := f.Field(uint64(i), c); !bytes.Equal(got, field) {
					t.Fatalf("row %d, column %d is %q, want %q", i, c, got, field)
				}
			}
		}
	})
}

// Whatever a file holds: an error, or fields that lie in it.
func FuzzParse(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("..", "..", "contract", "vectors", "data.json"))
	var v vectors
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		f.Fatal(err)
	}
	for _, of := range v.Files {
		f.Add(fileOf(f, of.Hex), "{0}{1j}{uuid}")
	}
	for _, d := range v.Damaged {
		f.Add(fileOf(f, d.Hex), "{0u}{{")
	}
	f.Fuzz(func(t *testing.T, text []byte, template string) {
		file, err := rows.Parse(text)
		if err != nil {
			return
		}
		parsed, err := rows.ParseTemplate(template, file.Columns)
		if err != nil {
			return
		}
		for n := range min(file.Rows, 100) {
			parsed.Append(nil, rows.NewSource(file, 1, 0, n%2 == 0).Of(n, 3))
		}
	})
}

func TestFillingAllocatesNothing(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "contract", "vectors", "data.json"))
	var v vectors
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	file, err := rows.Parse(fileOf(t, v.Files["shop"].Hex))
	if err != nil {
		t.Fatal(err)
	}
	template, err := rows.ParseTemplate("/{0}?q={1u}&id={uuid}&r={random8}&t={now}", file.Columns)
	if err != nil {
		t.Fatal(err)
	}
	source, room, n := rows.NewSource(file, 1, 0, false), make([]byte, 0, 1000), uint64(0)
	if allocated := testing.AllocsPerRun(100, func() {
		room = template.Append(room[:0], source.Of(n, 0))
		n++
	}); allocated > 0 {
		t.Errorf("filling a template allocates %v times", allocated)
	}
}
