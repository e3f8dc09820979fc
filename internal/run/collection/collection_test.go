package collection_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/run/collection"
	"netdyno/internal/run/study/source"
)

func format(t testing.TB, name string) collection.Format {
	t.Helper()
	all := collection.Formats()
	return all[slices.IndexFunc(all, func(f collection.Format) bool { return f.Name == name })]
}

// made makes a workload and lists its classes as they are read back.
func made(t *testing.T, name, file string, o collection.Options) (collection.Workload, []string) {
	t.Helper()
	w, err := collection.Make(t.Context(), format(t, name), file, "out.yaml", o)
	if err != nil {
		t.Fatal(err)
	}
	read, err := source.ReadWorkload("out.yaml", w.Text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, w.Text)
	}
	var all []string
	for i, c := range read.Classes {
		line := fmt.Sprintf("%s: %s %s %q %d", c.Name, c.Method, c.Path, c.Headers, c.Status)
		for _, b := range read.Bodies {
			if b.Class == i {
				line += " " + b.Text
			}
		}
		all = append(all, line)
	}
	return w, all
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// hides asserts that no secret is in what is written or said.
func hides(t *testing.T, w collection.Workload) {
	t.Helper()
	for _, secret := range []string{"s3cret", "k3y"} {
		if strings.Contains(string(w.Text)+fmt.Sprint(w.Notes, w.Headers, w.Bodies), secret) {
			t.Errorf("%s is shown: %s %q", secret, w.Text, w.Notes)
		}
	}
}

func says(t *testing.T, w collection.Workload, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(strings.Join(w.Notes, "\n"), word) {
			t.Errorf("%q is not said: %q", word, w.Notes)
		}
	}
}

func TestPostman(t *testing.T) {
	const file, environment = "testdata/shop.postman_collection.json", "testdata/dev.postman_environment.json"
	w, got := made(t, "postman", file, collection.Options{Environment: environment})
	same(t, got, []string{
		`Items / List items: GET /items?page=2&size=20 ["Accept: application/json" "X-Request-Source: bench"] 200`,
		`Items / One item: GET /items/7 [] 0`,
		`Health: GET /health [] 0`,
	})
	if w.Base != "http://127.0.0.1:28090" || len(w.Headers) != 0 {
		t.Errorf("%q, %q", w.Base, w.Headers)
	}
	hides(t, w)
	says(t, w, "left out: 3 requests that may change what the service holds (DELETE, POST, PUT); --methods GET,DELETE,POST,PUT", "left out: 1 request to another host, https://time.example")

	w, got = made(t, "postman", file, collection.Options{Set: []string{"orderKey=o1", "host=127.0.0.1:1"}, Methods: []string{"POST", "PUT"}, Only: []string{"Orders"}})
	same(t, got, []string{
		`Orders / Buy: POST /orders ["Idempotency-Key: o1" "Content-Type: application/json"] 201 {` + "\n  \"item\": 7,\n  \"note\": \"two of them\"\n}",
		`Orders / Pay: PUT /orders/1/payment?currency=EUR ["Content-Type: application/x-www-form-urlencoded"] 0 card=4+1`,
	})
	if !slices.Equal(w.Headers, []string{"Authorization: Bearer …"}) || w.Base != "http://127.0.0.1:1" {
		t.Errorf("%q, %q", w.Headers, w.Base)
	}
	hides(t, w)
	says(t, w, "query parameter api_key", "Authorization: Bearer … of 2 requests", "4 requests that --only does not name")
}

func TestOpenAPI(t *testing.T) {
	const file = "testdata/pets.openapi.yaml"
	w, got := made(t, "openapi", file, collection.Options{Set: []string{"petId=7", "host=127.0.0.1:1"}})
	same(t, got, []string{
		`GET /health: GET /api/v3/health [] 0`,
		`listPets: GET /api/v3/pets?status=available&tags=big&tags=red+%26+white ["Accept: application/json"] 200`,
		`getPet: GET /api/v3/pets/7 ["Accept: application/json" "X-Trace: on"] 200`,
	})
	if w.Base != "http://127.0.0.1:1" || !slices.Equal(w.Headers, []string{"X-API-Key: …"}) {
		t.Errorf("%q, %q", w.Base, w.Headers)
	}
	_, got = made(t, "openapi", file, collection.Options{Methods: []string{"POST"}, Set: []string{"login.body.password=pw", "addPet.body.owner.age=4"}})
	same(t, got, []string{
		`login: POST /api/v3/login ["Content-Type: application/x-www-form-urlencoded"] 200 password=pw&user=ann`,
		`addPet: POST /api/v3/pets ["Content-Type: application/json"] 201 {"kind":"dog","name":"Rex","owner":{"age":4}}`,
	})
	_, got = made(t, "openapi", "testdata/orders.openapi.json", collection.Options{Methods: []string{"GET", "PUT"}})
	same(t, got, []string{
		`GET /orders/{id}: GET /orders/4?at=%5B1%5D+%2F&f=a,1 [] 0`,
		`PUT /orders/{id}: PUT /orders/4 ["Content-Type: application/json"] 0 {"lines":[{"n":2,"of":"tea"}]}`,
	})
}

// References are followed as JSON pointers, also through each other; what stands beside one
// counts from OpenAPI 3.1 on.
func TestReferences(t *testing.T) {
	const text = `openapi: VERSION
paths:
  /a/{id}:
    parameters:
      - $ref: "#/components/parameters/of~1the%20id~0"
      - {name: q, in: query, required: true, schema: {$ref: "#/components/schemas/Count", example: 9}}
      - {name: t, in: query, required: true, examples: {some: {$ref: "#/components/examples/Some"}}, schema: {type: [string, "null"]}}
    get: {operationId: one, responses: {200: {$ref: "#/components/responses/Fine"}}}
    post:
      operationId: two
      requestBody: {$ref: "#/components/requestBodies/All"}
  /b: {$ref: "#/paths/~1a~1%7Bid%7D"}
components:
  parameters: {"of/the id~": {name: id, in: path, required: true, schema: {$ref: "#/paths/~1a~1{id}/parameters/1/schema"}}}
  schemas:
    Count: {type: integer, default: 3}
    Other: {$ref: "#/components/schemas/Tree"}
    Tree:
      type: [object, "null"]
      required: [name, kids, on, at]
      properties:
        name: {type: [string, "null"], examples: [oak, elm]}
        kids: {type: [array, "null"], items: {$ref: "#/components/schemas/Tree"}}
        on: {$ref: "#/components/schemas/Other/properties/kids/items/properties/name"}
        at: {example: {$ref: anywhere}, const: 2}
  examples: {Some: {value: &some x/y}, More: {value: *some}}
  responses: {Fine: {content: {application/json: {schema: true}}}}
  requestBodies: {All: {content: {application/json: {schema: {$ref: "#/components/schemas/Tree", required: [more], properties: {more: {const: [*some]}}}}}}}
`
	for version, want := range map[string][]string{
		"3.0.4": {
			`one: GET /a/3?q=3&t=x%2Fy ["Accept: application/json"] 200`,
			`two: POST /a/3?q=3&t=x%2Fy ["Content-Type: application/json"] 0 {"at":{"$ref":"anywhere"},"kids":[],"name":"oak","on":"oak"}`,
		},
		"3.1.0": {
			`one: GET /a/9?q=9&t=x%2Fy ["Accept: application/json"] 200`,
			`two: POST /a/9?q=9&t=x%2Fy ["Content-Type: application/json"] 0 {"at":{"$ref":"anywhere"},"kids":[],"more":["x/y"],"name":"oak","on":"oak"}`,
		},
	} {
		file := filepath.Join(t.TempDir(), "file")
		write(t, file, strings.Replace(text, "VERSION", version, 1))
		_, got := made(t, "openapi", file, collection.Options{Methods: []string{"GET", "POST"}, Only: []string{"/a/"}})
		same(t, got, want)
	}
}

func TestVegeta(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "body.bin", "{\"a\":1}\n")
	write(t, "targets", "# mine\nGET http://127.0.0.1:8080/a?q=x y\nAccept: text/plain\nAuthorization: Bearer s3cret\n\nGET http://127.0.0.1:8080/a\nGET http://127.0.0.1:8080/a\nPOST http://127.0.0.1:8080/b\nContent-Type: application/json\n@body.bin\n")
	if _, err := collection.Make(t.Context(), format(t, "vegeta"), "targets", "out.yaml", collection.Options{}); err == nil || !strings.Contains(err.Error(), "targets: line 2") {
		t.Errorf("a URL with a space: %v", err)
	}
	write(t, "targets", strings.Replace(read(t, "targets"), "x y", "x", 1))
	w, got := made(t, "vegeta", "targets", collection.Options{Methods: []string{"GET", "POST"}})
	same(t, got, []string{
		`GET /a?q=x: GET /a?q=x ["Accept: text/plain"] 0`,
		`GET /a: GET /a [] 0`,
		`POST /b: POST /b ["Content-Type: application/json"] 0 @out.bodies/03`,
	})
	if !strings.Contains(string(w.Text), "weight: 2") || string(w.Bodies["out.bodies/03"]) != "{\"a\":1}\n" {
		t.Errorf("%s, %q", w.Text, w.Bodies)
	}
	hides(t, w)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What is wrong is said with the file, the item and what would do, at once and in little
// memory.
func TestBadCollections(t *testing.T) {
	shop := read(t, "testdata/shop.postman_collection.json")
	schema := `"info": {"schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"}`
	post := collection.Options{Methods: []string{"POST"}}
	refused(t, []bad{
		{"postman", shop, collection.Options{}, `{{client}} (needed by "Items / List items") has no value; give each by --set NAME=VALUE, or all by --environment FILE`},
		{"postman", shop, collection.Options{Set: []string{"clinet=1"}}, `--set clinet: nothing in FILE is called so; did you mean "client"?`},
		{"postman", shop, collection.Options{Set: []string{"client"}}, `--set "client": expected NAME=VALUE`},
		{"postman", shop, collection.Options{Environment: "testdata/dev.postman_environment.json", Methods: []string{"POST"}}, `{{orderKey}} (needed by "Orders / Buy") has no value`},
		{"postman", shop, collection.Options{Environment: "testdata/pets.openapi.yaml"}, `--environment testdata/pets.openapi.yaml: line 1: `},
		{"postman", shop, collection.Options{Only: []string{"nothing"}}, "no request is left: left out: 7 requests that --only does not name"},
		{"postman", strings.Replace(shop, "v2.1.0", "v2.0.0", 1), collection.Options{}, "it is a Postman collection of version 2.0; expected a Postman collection of version 2.1"},
		{"postman", `{"id": "x", "requests": []}`, collection.Options{}, "it is a Postman collection of version 1; expected"},
		{"postman", `{"openapi": "3.1.0"}`, collection.Options{}, "it is an OpenAPI document (3.1); expected a Postman collection"},
		{"postman", "{\n\"info\": {},\n}", collection.Options{}, "line 3: invalid character"},
		{"postman", "\xff\xfe{", collection.Options{}, "it is not UTF-8 text; expected a Postman collection"},
		{"postman", `{` + schema + `, "variable": [{"key": "a", "value": "{{b}}{{b}}"}, {"key": "b", "value": "{{a}}{{a}}"}], "item": [{"name": "x", "request": "{{a}}"}]}`, collection.Options{}, `item "x": the variable {{a}} leads to itself, or to too many others`},
		{"postman", `{` + schema + `, "item": [{"name": "x", "request": {"method": "POST", "url": "http://a/", "body": {"mode": "file"}}}]}`, post, `item "x": its body is of mode "file"`},
		{"postman", `{` + schema + `, "item": [{"name": "x", "request": "ftp://a/b"}]}`, collection.Options{}, `item "x": "ftp://a/b" is no URL of HTTP`},
		{"postman", `{` + schema + `, "item": ` + strings.Repeat(`[{"item": `, 60) + "[]" + strings.Repeat("}]", 60) + `}`, collection.Options{}, "more than 50 folders lie in each other"},
		{"postman", `{` + schema + `, "item": [` + strings.TrimSuffix(strings.Repeat(`{"name": "x", "request": "http://a/N"},`, 1), ",") + many(70) + `]}`, collection.Options{}, "it has 71 different requests, and a workload at most 64; --only TEXT"},
		{"vegeta", "GET\n", collection.Options{}, `line 1: "GET" is no target; expected a method and a URL`},
		{"vegeta", "GET /a\n", collection.Options{Methods: []string{"PUT"}}, "no request is left: left out: 1 request by other methods (GET)"},
	})
}

// Documents are refused likewise; the error has the line or the JSON pointer.
func TestBadDocuments(t *testing.T) {
	shop, pets := read(t, "testdata/shop.postman_collection.json"), read(t, "testdata/pets.openapi.yaml")
	bomb := "x0: &x0 {type: string}\n"
	for i := range 40 {
		bomb += fmt.Sprintf("x%d: &x%d {allOf: [*x%d, *x%d, *x%d]}\n", i+1, i+1, i, i, i)
	}
	doc := func(schemas string) string {
		return "openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths: {/a: {post: {operationId: make, requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/A0'}}}}, responses: {'200': {description: ok}}}}}\ncomponents: {schemas: {" + schemas + "}}\n"
	}
	chain := ""
	for i := range 40 {
		chain += fmt.Sprintf("A%d: {type: object, required: [l, r], properties: {l: {$ref: '#/components/schemas/A%d'}, r: {$ref: '#/components/schemas/A%d'}}}, ", i, (i+1)%40, (i+1)%40)
	}
	wide := ""
	for i := range 20000 {
		wide += fmt.Sprintf("x%d: 1\n", i)
	}
	post := collection.Options{Methods: []string{"POST"}}
	refused(t, []bad{
		{"openapi", pets, collection.Options{}, `path parameter petId (needed by "getPet") has no value; the document has no example, default or enum for it: give each by --set NAME=VALUE`},
		{"openapi", pets, post, `body.password (needed by "login") has no value`},
		{"openapi", strings.Replace(pets, "openapi: 3.0.3", "swagger: '2.0'", 1), collection.Options{}, "it is Swagger 2.0; expected OpenAPI 3.0 or 3.1"},
		{"openapi", strings.Replace(pets, "3.0.3", "4.0.0", 1), collection.Options{}, "it is OpenAPI 4.0; expected OpenAPI 3.0 or 3.1"},
		{"openapi", shop, collection.Options{}, "it is a Postman collection; expected OpenAPI"},
		{"openapi", strings.Replace(pets, "#/components/schemas/Kind", "other.yaml#/Kind", 1), collection.Options{}, "it refers to another file (other.yaml#/Kind)"},
		{"openapi", strings.Replace(pets, "#/components/schemas/Kind", "#/components/schemas/Knd", 1), collection.Options{}, `#/components/schemas/Pet/properties/kind/allOf/0: the reference "#/components/schemas/Knd" leads nowhere: #/components/schemas has no "Knd"; did you mean "Kind"?`},
		{"openapi", strings.Replace(pets, "/pets/{petId}", "/pets/{id}", 1), collection.Options{Set: []string{"petId=1"}}, "GET /pets/{id}: the path has {id}, and no parameter is called so"},
		{"openapi", strings.Replace(pets, "paths:", "paths: [", 1), collection.Options{}, "FILE: line 30: it is not YAML: "},
		{"openapi", pets + bomb, collection.Options{}, "its aliases stand for more than 8 times its size"},
		{"openapi", doc("A0: {type: object, required: [a], properties: {a: {$ref: '#/components/schemas/A0'}}}"), post, `(needed by "make")`},
		{"openapi", doc(chain), post, `(needed by "make")`},
		{"openapi", doc("A0: {$ref: '#/components/schemas/A0'}"), post, `FILE: #/components/schemas/A0: the reference "#/components/schemas/A0" leads to itself`},
		{"openapi", doc("A0: {$ref: '#/components/schemas/A1/b'}, A1: {$ref: '#/components/schemas/A0/c'}"), post, `the reference "#/components/schemas/A1/b" leads to itself`},
		{"openapi", doc("A0: {$ref: '#Pet'}"), post, `the reference is "#Pet"; expected a JSON pointer, such as #/components/schemas/NAME`},
		{"openapi", doc("A0: {type: object, required: yes, properties: {a: {}}}"), post, "FILE: #/components/schemas/A0/required: expected a list, found yes"},
		{"openapi", doc("A0: {example: *none}"), post, "FILE: line 4: it is not YAML: "},
		{"openapi", doc("A0: {type: object, type: string}"), post, "FILE: line 4: it is not YAML: "},
		{"openapi", doc("A0: {example: " + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}"), post, "FILE: line 4: more than 200 values lie in each other"},
		{"openapi", doc("A0: {}") + "x-deep:\n" + strings.Repeat("- ", 1<<19) + "a\n", post, "FILE: line 6: more than 200 values lie in each other"},
		{"openapi", "openapi: 3.1.0\nx: [" + strings.Repeat("1,", 1<<22) + "]", post, "FILE: it has 4194309 signs of YAML, such as commas, and lines; expected at most 2097152, or JSON"},
		{"openapi", "openapi: 3.1.0\n#" + strings.Repeat(" ", 1<<24), post, "FILE: it has 16777232 bytes of YAML; expected at most 16777216, or JSON"},
		{"openapi", doc("A0: {}") + wide, post, "a mapping has more than 16384 keys"},
		{"openapi", `{"openapi": "3.1.0", "x-deep": ` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}", post, "#/x-deep/0/0"},
		{"openapi", `{"openapi": "3.1.0", "x-deep": ` + strings.Repeat("[", 1<<20), post, "exceeded max depth"},
		{"openapi", "{\n\"openapi\": \"3.1.0\",\n}", post, "FILE: line 3: invalid character"},
		{"openapi", "\x00\x01garbage \U0001F4A9", post, "it is no OpenAPI document (it has no key openapi)"},
		{"openapi", "openapi: 3.1.0\n\x00\x01: - ][ garbage", post, "FILE: line 2: it is not YAML: "},
		{"openapi", "openapi: 3.1.0\npaths: [a]\n", post, "FILE: #/paths: expected a mapping, found [\"a\"]"},
		{"openapi", "openapi: 3.1.0\npaths: {/a~b: {get: {parameters: {}}}}\n", collection.Options{}, "FILE: #/paths/~1a~0b/get/parameters: expected a list, found {}"},
		{"openapi", "openapi: 3.1.0\n---\nopenapi: 3.1.0\n", post, "FILE: line 3: a second document begins"},
	})
}

type bad struct {
	format, text string
	o            collection.Options
	want         string // in the error
}

func refused(t *testing.T, all []bad) {
	t.Helper()
	for _, c := range all {
		file := filepath.Join(t.TempDir(), "file")
		write(t, file, c.text)
		begun := time.Now()
		_, err := collection.Make(t.Context(), format(t, c.format), file, "out.yaml", c.o)
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), file, "FILE"), c.want) || !strings.Contains(err.Error(), file) && !strings.HasPrefix(err.Error(), "--set") || len(err.Error()) > 3000 {
			t.Errorf("%s %.60q %+v: %v, want %q", c.format, c.text, c.o, err, c.want)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s %.60q took %v", c.format, c.text, took)
		}
	}
}

func TestCollectionsAreBounded(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	f, err := os.Create(large)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(1 << 30); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if _, err := collection.Make(t.Context(), format(t, "postman"), large, "out.yaml", collection.Options{}); err == nil || !strings.Contains(err.Error(), "expected at most 67108864") {
		t.Error(err)
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"name": "x", "request": "http://a/%d"}`, i)
	}
	return b.String()
}

func TestRecognise(t *testing.T) {
	for text, want := range map[string]string{
		read(t, "testdata/shop.postman_collection.json"):            "netdyno record postman F",
		read(t, "testdata/pets.openapi.yaml"):                       "netdyno record openapi F",
		`{"openapi":"3.1.0"}`:                                       "netdyno record openapi F",
		"swagger: \"2.0\"\n":                                        "swagger2openapi",
		"# x\nGET http://a/\n":                                      "netdyno record vegeta F",
		"import { check } from 'k6';\n":                             "k6",
		"<?xml version=\"1.0\"?>\n<jmeterTestPlan version=\"1.2\">": "JMeter",
		"classes: [{name: a, path: /openapi}]\n":                    "",
		"":                                                          "",
	} {
		what, do := collection.Recognise([]byte(text), "F")
		if !strings.Contains(what+" "+do, want) || want == "" && what != "" {
			t.Errorf("%.40q is %q, %q; want %q", text, what, do, want)
		}
	}
}

// FuzzMake: whatever a file holds, an error or a workload that can be read.
func FuzzMake(f *testing.F) {
	for i, name := range []string{"shop.postman_collection.json", "pets.openapi.yaml", "orders.openapi.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, text)
	}
	f.Fuzz(func(t *testing.T, which int, text []byte) {
		all := collection.Formats()
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := collection.Make(t.Context(), all[max(0, which)%len(all)], file, "out.yaml", collection.Options{Methods: []string{"GET", "POST", "PUT", "DELETE"}})
		if err != nil {
			return
		}
		if _, err := source.ReadWorkload("out.yaml", w.Text); err != nil {
			t.Errorf("%s: %v", w.Text, err)
		}
	})
}
