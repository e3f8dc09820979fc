package feed_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/rows"
	"netdyno/internal/run/feed"
)

// open opens a file of that name and content.
func open(t *testing.T, name, content string) (*feed.Feed, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := feed.Open(t.Context(), file, false)
	if err == nil {
		t.Cleanup(func() { _ = f.Close() })
	}
	return f, err
}

// fill makes a template and fills it with the first rows.
func fill(t *testing.T, f *feed.Feed, at feed.Place, text string, number int) ([]string, error) {
	t.Helper()
	template, err := f.Template(at, "it", text)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(t.TempDir(), "rows")
	if err := f.Convert(name); err != nil {
		return nil, err
	}
	file, err := rows.Open(name)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = file.Close() })
	parsed, err := rows.ParseTemplate(template, file.Columns)
	if err != nil {
		t.Fatalf("%s became %s: %v", text, template, err)
	}
	var all []string
	for n := range number {
		all = append(all, string(parsed.Append(nil, rows.NewSource(file, 1, 0, false).Of(uint64(n), 0))))
	}
	return all, nil
}

func TestRowsAreFilledIn(t *testing.T) {
	const shop = "id,name\r\n1,\"tea, green\"\r\n\r\n2,\"a \"\"b\"\"\n\\c\"\r\n"
	for _, c := range []struct {
		name, content string
		at            feed.Place
		text          string
		want          []string
	}{
		{"a.csv", shop, feed.URL, "/o/{id}?q={name}", []string{"/o/1?q=tea%2C%20green", "/o/2?q=a%20%22b%22%0A%5Cc", "/o/1?q=tea%2C%20green"}},
		{"a.csv", shop, feed.URL, "/o/%7Bid%7d/%7Bx%7D", []string{"/o/1/%7Bx%7D"}},
		{"a.csv", "\xef\xbb\xbf" + shop, feed.Form, "a={name}&b=%7Bid%7D", []string{"a=tea%2C%20green&b=1"}},
		{"a.csv", shop, feed.JSON, `{"a":{"n":"{name}","i":{id}},"b":"{{id}"}`, []string{`{"a":{"n":"tea, green","i":1},"b":"{id}"}`, `{"a":{"n":"a \"b\"\u000A\\c","i":2},"b":"{id}"}`}},
		{"a.csv", shop, feed.Text, "{name}{}{ id }{1}", []string{"tea, green{}{ id }{1}"}},
		{"a.csv", shop, feed.Header, "Bearer {id}", []string{"Bearer 1", "Bearer 2"}},
		{"shop", "id;name\n1;x\n", feed.URL, "/{name}", []string{"/x"}},
		{"a.tsv", "id\tname, all\n1\tx\n", feed.URL, "/{name, all}", []string{"/x"}},
		{"a.csv", "uuid\nu1\nu2", feed.URL, "/{uuid}", []string{"/u1", "/u2"}},
		{"a.jsonl", `{"id": 7, "at": {"x": [1]}, "name": "t\u0065a\""}` + "\n" + `{"name": "b", "id": null, "at": 1, "more": 2}`, feed.JSON, `{"i":{id},"at":{at},"n":"{name}"}`, []string{`{"i":7,"at":{"x": [1]},"n":"tea\""}`, `{"i":null,"at":1,"n":"b"}`}},
		{"bodies", "\n{\"a\": \"é\"}\n{\"b\": 2}\n", feed.JSON, "{line}", []string{`{"a": "é"}`, `{"b": 2}`}},
		{"a.txt", "x,y\n\nz\n", feed.Text, "<{line}>", []string{"<x,y>", "<z>"}},
		{"words", "tea\ncake", feed.URL, "/{line}/{n}", []string{"/tea/0", "/cake/1", "/tea/2"}},
	} {
		f, err := open(t, c.name, c.content)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := fill(t, f, c.at, c.text, len(c.want))
		if err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("%s of %q: %q, want %q; %v", c.text, c.content, got, c.want, err)
		}
	}
}

// What is no template goes out as it is; what looks like one is said to.
func TestWithoutAFile(t *testing.T) {
	for _, c := range []struct{ text, want, remark string }{
		{`{"a":{"b":1}}`, `{"a":{"b":1}}`, ""},
		{`{"id":"{key}"}`, `{"id":"{key}"}`, "{key}"},
		{`{"query":"{shop{items}}"}`, `{"query":"{shop{items}}"}`, ""},
		{`{"id":{key}}`, `{"id":{key}}`, "{key}"},
		{`{"id":"{{name}}"}`, `{"id":"{{name}}"}`, "{{name}}"},
		{`{"id":"{n}","x":"{key}"}`, `{"id":"0","x":"{key}"}`, "{key}"},
		{`{"id":"{n}","x":{}}`, `{"id":"0","x":{}}`, ""},
		{"{{n}", "{n}", ""},
		{"{{{{uuid}}", "{{uuid}}", ""},
	} {
		f, err := feed.Open(t.Context(), "", false)
		if err != nil {
			t.Fatal(err)
		}
		got, err := fill(t, f, feed.JSON, c.text, 1)
		if err != nil || got[0] != c.want || (len(f.Remarks) > 0) != (c.remark != "") || c.remark != "" && !strings.HasPrefix(f.Remarks[0], c.remark) {
			t.Errorf("%s: %q, %q, %v", c.text, got, f.Remarks, err)
		}
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	const shop = "id,name\n1,tea\n"
	big := strings.Repeat("x", rows.MostField+1)
	for _, c := range []struct {
		name, content string
		at            feed.Place
		text, want    string
	}{
		{"a.csv", "", feed.URL, "/", "a.csv: it is empty"},
		{"a.csv", "\n\n", feed.URL, "/", "empty"},
		{"a.txt", "\n", feed.URL, "/{line}", "no rows"},
		{"a.csv", "id,name\n", feed.URL, "/{id}", "a header line and no rows"},
		{"a.csv", "1,tea\n2,cake\n", feed.URL, "/{id}", ":1: found 1 as the name of column 1; expected a header line"},
		{"a.csv", "id,name,id\n1,2,3\n", feed.URL, "/{id}", "columns 1 and 3 are both named id"},
		{"a.csv", "id,,x\n1,2,3\n", feed.URL, "/{id}", "column 2 has no name"},
		{"a.csv", shop + "2\n", feed.URL, "/{id}", "a.csv:3: the row has 1 field; expected 2"},
		{"a.csv", shop + "\n\"a\nb\",c\n2,3,4\n", feed.URL, "/{id}", "a.csv:6: the row has 3 fields"},
		{"a.csv", shop + "2,\"x\n3,4\n", feed.URL, "/{id}", ":3: a quote opens here that nothing closes"},
		{"a.csv", shop + "2,5\" disk\"\n", feed.URL, "/{id}", ":3: a quote stands inside a field"},
		{"a.csv", shop + "2," + big + "\n", feed.URL, "/{name}", ":3: column \"name\" has 1048577 bytes"},
		{"a.csv", shop + "2,\"a\r\nX-Evil: 1\"\n", feed.Header, "{name}", `:3: column "name" has the byte 0x0A`},
		{"a.csv", shop + "2,a\x00\n", feed.Header, "{name}", "0x00"},
		{"a.csv", shop, feed.URL, "/{nam}", `has no column "nam"; did you mean "name"?`},
		{"a.csv", shop, feed.URL, "/{id", "nothing closes {id"},
		{"a.csv", shop, feed.JSON, `{"id":"{id"}`, "nothing closes {id"},
		{"a.csv", shop, feed.JSON, `{"id":"{{id}}"}`, "expected {id}, with one brace"},
		{"a.csv", shop, feed.JSON, `{"id":"{{ nam }}"}`, "did you mean"},
		{"a.csv", shop, feed.URL, "/{random}", "such as {random:8}"},
		{"a.csv", shop, feed.URL, "/{random:9999}", "1 to 1000"},
		{"a.json", `[{"id": 1}]`, feed.URL, "/{id}", "expected an object a line"},
		{"a.jsonl", "{\"id\": 1}\n{\"name\": 2}\n", feed.URL, "/{id}", `a.jsonl:2: the row has no "id"`},
		{"a.jsonl", "{\"id\": 1}\n{\"id\": secret}\n", feed.URL, "/{id}", "a.jsonl:2: it is no JSON at byte 7"},
		{"a.jsonl", "{\"id\": 1}\n[1]\n", feed.URL, "/{id}", ":2: expected a JSON object a line"},
		{"a.jsonl", "{\"id\": 1} {\"id\": 2}\n", feed.URL, "/{id}", "more follows"},
		{"a.jsonl", "{\"id\": 1, \"id\": 2}\n", feed.URL, "/{id}", "no JSON at byte"},
		{"a.jsonl", "{\"id\": 1", feed.URL, "/{id}", "no JSON at byte 8"},
	} {
		f, err := open(t, c.name, c.content)
		if err == nil {
			_, err = fill(t, f, c.at, c.text, 1)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s of %.60q: %v, want %q", c.text, c.content, err, c.want)
		}
	}
	if f, err := open(t, "a.csv", shop); err != nil || f.Check() == nil || !strings.Contains(f.Check().Error(), "{id}") {
		t.Errorf("a file that nothing names: %v", err)
	}
}

// A field without end is refused while little of it is read.
func TestAFieldWithoutEnd(t *testing.T) {
	for _, begin := range []string{"id,name\n1,", "id,name\n1,\"", `{"id": "`, ""} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan int64)
		go func() {
			n, _ := io.Copy(w, io.MultiReader(strings.NewReader(begin), io.LimitReader(endless{}, 1<<30))) // it ends with the reader
			read <- n
		}()
		f, err := feed.Open(t.Context(), fmt.Sprintf("/dev/fd/%d", r.Fd()), false)
		if err == nil {
			_, err = f.Template(feed.URL, "the URL", map[bool]string{true: "/{id}", false: "/{line}"}[begin != ""])
			if err == nil {
				err = f.Convert(filepath.Join(t.TempDir(), "rows"))
			}
			_ = f.Close()
		}
		_ = r.Close()
		if n := <-read; err == nil || n > 32<<20 {
			t.Errorf("%q: %d bytes were read; %v", begin, n, err)
		}
	}
}

// endless is lines of one byte's value, none of which ends within 1 GiB.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// Whatever a file holds and a template says: an error, or texts.
func FuzzFeed(f *testing.F) {
	f.Add("a.csv", "id,name\n1,\"x\"\"y\"\n", "{id}{{x}%7Bname%7D{random:3}", 0)
	f.Add("a.jsonl", `{"id": 1}`, `{"x":"{id}","y":{line}}`, 2)
	f.Add("a", "x\ny\r\n", "{line}{uuid}", 4)
	directory := f.TempDir()
	f.Fuzz(func(t *testing.T, name, content, text string, at int) {
		file, to := filepath.Join(directory, "in"+filepath.Ext(filepath.Base(name))), filepath.Join(directory, "out")
		if os.WriteFile(file, []byte(content), 0o600) != nil {
			return // no name of a file
		}
		defer os.Remove(file)
		defer os.Remove(to)
		open, err := feed.Open(t.Context(), file, false)
		if err != nil {
			return
		}
		defer open.Close()
		template, err := open.Template(feed.Place(uint(at)%5), "it", text)
		if err != nil || open.Convert(to) != nil {
			return
		}
		read, err := rows.Open(to)
		if err != nil {
			t.Fatal(err)
		}
		defer read.Close()
		if _, err := rows.ParseTemplate(template, read.Columns); err != nil {
			t.Fatalf("%q became %q: %v", text, template, err)
		}
	})
}
