package source_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/run/study/source"
	"netdyno/internal/run/workload"
)

const shop = `
classes:
  - {name: browse, weight: 70%, path: "/items/{key}", response: 4KiB}
  - name: buy
    weight: 29.5%
    method: POST
    path: /orders
    request: 1KiB
    response: 200B
    deadline: 2s
  - {name: export, weight: 0.5%, path: /export, response: 4MiB, status: 404}
keys: {zipf: {n: 100000, s: 1.1}}
`

func TestReadWorkload(t *testing.T) {
	w, err := source.ReadWorkload("shop.yaml", []byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	want := []contract.Class{
		{Name: "browse", End: 3006477107, DownBytes: 4096, Path: "/items/{key}"},
		{Name: "buy", End: 4273492460, UpBytes: 1024, DownBytes: 200, Method: "POST", Path: "/orders", DeadlineNs: 2e9},
		{Name: "export", End: contract.TableEnd, DownBytes: 4 << 20, Path: "/export", Status: 404},
	}
	for i, c := range w.Classes {
		if c.Name != want[i].Name || c.End != want[i].End || c.UpBytes != want[i].UpBytes || c.DownBytes != want[i].DownBytes ||
			c.Path != want[i].Path || c.Method != want[i].Method || c.DeadlineNs != want[i].DeadlineNs || c.Status != want[i].Status {
			t.Errorf("%+v, want %+v", c, want[i])
		}
	}
	x := w.Exchange(contract.Exchange{})
	mean := 0.7*4096 + 0.295*200 + 0.005*(4<<20)
	if x.UpBytes != 1024 || x.DownBytes != 4<<20 || math.Abs(x.UpSizes.Mean()-0.295*1024) > 0.01 || math.Abs(x.DownSizes.Mean()-mean) > 0.5 {
		t.Errorf("%+v: mean down %v, want %v", x, x.DownSizes.Mean(), mean)
	}
	if err := w.Keys.Check(contract.MostKey); err != nil || w.Keys.Most() != 100_000 {
		t.Error(err, w.Keys.Most())
	}
}

// Every mistake is said with its place, and what was expected.
func TestBadWorkloads(t *testing.T) {
	for want, change := range map[string][2]string{
		`shop.yaml:11:28: weight: "0%": the class would never come`:                                                                       {"0.5%", "0%"},
		`shop.yaml:11:28: weight: all weights add to 99.7%; expected 100%`:                                                                {"0.5%", "0.2%"},
		`shop.yaml:11:28: weight: some are in % and some are plain numbers`:                                                               {"0.5%", "5"},
		`shop.yaml:11:28: weight: "half" is no weight`:                                                                                    {"0.5%", "half"},
		`shop.yaml:11:12: class browse is written twice`:                                                                                  {"name: export", "name: browse"},
		`shop.yaml:3:55: unknown key "respons"; did you mean "response"?`:                                                                 {"response: 4KiB", "respons: 4KiB"},
		`shop.yaml:3:65: response: "4KB/s"`:                                                                                               {"4KiB", "4KB/s"},
		`shop.yaml:3:65: response: 2GiB is out of range`:                                                                                  {"4KiB", "2GiB"},
		`shop.yaml:3:39: path: "/items/{key}" has {key}, and the file says no keys`:                                                       {"keys: {zipf: {n: 100000, s: 1.1}}", ""},
		`shop.yaml:3:39: path: "/items/{ky{e}" has braces around something else`:                                                          {"{key}", "{ky{e}"},
		`shop.yaml:12:18: n: 0 is out of range; expected from 1 to`:                                                                       {"n: 100000", "n: 0"},
		`shop.yaml:12:29: s: found "11"; expected 0 (all keys alike) to 10`:                                                               {"s: 1.1", "s: 11"},
		`shop.yaml:12:8: unknown key "zipfs"; did you mean "zipf"?`:                                                                       {"zipf:", "zipfs:"},
		`shop.yaml:6:13: method: "post" is not a method; did you mean "POST"?`:                                                            {"POST", "post"},
		`shop.yaml:10:15: deadline: found "0s"; expected a duration above 0`:                                                              {"2s", "0s"},
		`shop.yaml:10:12: think: found "0s"; expected a duration above 0`:                                                                 {"deadline: 2s", "think: 0s"},
		`shop.yaml:10:5: unknown key "thnik"; did you mean "think"?`:                                                                      {"deadline: 2s", "thnik: 2s"},
		`shop.yaml:6:13: method: "/Cart" is not a method; expected one of HTTP such as GET or POST, or of gRPC such as /shop.v1.Cart/Add`: {"POST", "/Cart"},
		`shop.yaml:6:15: headers: Authorization is secret, and this file's headers are recorded; give it by -H`:                           {"method: POST", "headers: {Authorization: Bearer x}"},
		`shop.yaml:6:15: headers: all classes ask one host; expected --host instead`:                                                      {"method: POST", "headers: {Host: example.org}"},
		`shop.yaml:6:15: headers: "X Y" is not a header`:                                                                                  {"method: POST", "headers: {X Y: a}"},
		`shop.yaml:6:15: headers: Content-Length says how a request is framed`:                                                            {"method: POST", "headers: {Content-Length: 3}"},
		`shop.yaml:6:14: headers: found a single value; expected a mapping such as {Accept: application/json}`:                            {"method: POST", "headers: Accept"},
		`shop.yaml:11:73: status: "99" is not a status`:                                                                                   {"404", "99"},
		`shop.yaml:11:5: classes: the key "name" is missing`:                                                                              {"name: export, ", ""},
		`shop.yaml:11:5: class export has no weight; expected one such as 70%`:                                                            {"weight: 0.5%, ", ""},
		`shop.yaml:3:5: the file: the key "classes" is missing`:                                                                           {shop, "\n\n    keys: {zipf: {n: 10}}"},
		`shop.yaml: the file is empty; expected a mapping with the keys classes, keys`:                                                    {shop, ""},
	} {
		if _, err := source.ReadWorkload("shop.yaml", []byte(strings.Replace(shop, change[0], change[1], 1))); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", change, err, want)
		}
	}
	tiny := "classes: [{name: a, weight: 1}, {name: b, weight: 1e-12}]"
	if _, err := source.ReadWorkload("w", []byte(tiny)); err == nil || !strings.Contains(err.Error(), "too small beside the others") {
		t.Error(err)
	}
}

// Headers are told as they are written, a number too.
func TestHeadersOfClasses(t *testing.T) {
	w, err := source.ReadWorkload("w", []byte("classes: [{name: a, headers: {Content-Type: application/json, X-Id: 007}}]"))
	if err != nil || !slices.Equal(w.Classes[0].Headers, []string{"Content-Type: application/json", "X-Id: 007"}) {
		t.Errorf("%+v, %v", w.Classes, err)
	}
}

// The header of recorded traffic has its classes, whose sizes are means.
func TestReadRecorded(t *testing.T) {
	recorded := "recorded: {version: 1, requests: 4}\nclasses:\n  - {name: GET, requests: 3, up: 0B, down: 300B, most_up: 0B, most_down: 200B, method: GET}\n" +
		"  - {name: GET 404, requests: 1, up: 4B, down: 0B, most_up: 4B, most_down: 0B, method: GET, status: 404}\n"
	w, err := source.ReadRecorded("x.rec", []byte(recorded))
	if err != nil {
		t.Fatal(err)
	}
	if x := w.Exchange(contract.Exchange{}); x.UpBytes != 4 || x.DownBytes != 200 || math.Abs(x.UpSizes.Mean()-1) > 1e-6 || math.Abs(x.DownSizes.Mean()-75) > 1e-6 {
		t.Errorf("%+v", x)
	}
	for _, damaged := range []string{"version: 2", "requests: x", "most_down: 2GiB", "classes: []"} {
		key, _, _ := strings.Cut(damaged, " ")
		lines := strings.Split(recorded, key)
		text := lines[0] + damaged + "\n" + strings.Join(lines[1:], key)
		if _, err := source.ReadRecorded("x.rec", []byte(text)); err == nil {
			t.Errorf("%s was taken", damaged)
		}
	}
}

// Frequent keys are exact, and all of them together as frequent as Zipf's law says.
func TestZipf(t *testing.T) {
	for _, z := range []workload.Zipf{{N: 1, S: 1}, {N: 10, S: 0}, {N: 5000, S: 1}, {N: 1_000_000, S: 0.8}, {N: 1_000_000_000, S: 1.2}} {
		table := z.Table()
		if err := table.Check(contract.MostKey); err != nil || table.Most() != z.N || table.Least() != 1 {
			t.Errorf("%+v: %v, %d to %d", z, err, table.Least(), table.Most())
		}
		if z.N > 1_000_000 {
			continue
		}
		total, below := 0.0, map[int64]float64{}
		for k := int64(1); k <= z.N; k++ {
			total += math.Pow(float64(k), -z.S)
			below[k] = total
		}
		last := int64(0)
		for _, s := range table {
			if s[1] != last+1 && last > 0 {
				t.Errorf("%+v: a piece begins with %d after %d", z, s[1], last)
			}
			if got, want := float64(s[0])/contract.TableEnd, below[s[2]]/total; math.Abs(got-want) > 2e-6 {
				t.Errorf("%+v: up to %d: %v, want %v", z, s[2], got, want)
			}
			last = s[2]
		}
	}
}

// FuzzReadWorkload: whatever a file holds, an error or a workload whose exchange can be drawn.
func FuzzReadWorkload(f *testing.F) {
	f.Add([]byte(shop))
	f.Fuzz(func(t *testing.T, text []byte) {
		w, err := source.ReadWorkload("w", text)
		if err != nil {
			return
		}
		x := w.Exchange(contract.Exchange{})
		for _, table := range []contract.Table{x.UpSizes, x.DownSizes} {
			if err := table.Check(contract.MaxMessage); err != nil {
				t.Fatalf("%v: %v", table, err)
			}
		}
	})
}
