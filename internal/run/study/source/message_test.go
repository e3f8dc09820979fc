package source

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/run/study"
)

const (
	ownOrder = "order.proto:shop.Order:order.json"
	ownArms  = `
study: mine
vary:
  arm:
    grpc: {transport: go-grpc}
    http: {transport: go-http1}
    slow: {transport: go-http2}
compare: {baseline: grpc}
`
)

// levelsIn says what the arms' trials have of some factors: "grpc proto M".
func levelsIn(t *testing.T, s *study.Study, factors ...string) string {
	t.Helper()
	trials, _, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, tr := range trials {
		line := tr.Arm
		for _, f := range factors {
			line += " " + strings.ReplaceAll(tr.Levels[f], ownOrder, "M")
		}
		if !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// A message typed beside a study of the user's own arms goes to each of them.
func TestAMessageIsAddedToTheUsersOwnArms(t *testing.T) {
	for _, c := range []struct{ name, file, typed, want string }{
		{"arms without a codec", ownArms, "", "grpc proto M; http proto M; slow proto M"},
		{"some of them", ownArms, "arm=http,grpc", "grpc proto M; http proto M"},
		{"a codec typed", ownArms, "codec=json", "grpc json M; http json M; slow json M"},
		{"several codecs typed", ownArms, "arm=grpc,http codec=proto,json", "grpc json M; grpc proto M; http json M; http proto M"},
		{"a codec of one arm", strings.Replace(ownArms, "go-http1}", "go-http1, codec: json}", 1), "arm=grpc,http", "grpc proto M; http json M"},
		{"sizes of the file", strings.Replace(ownArms, "vary:", "hold: {request: 1KiB, response: 2KiB}\nvary:", 1), "arm=grpc", "grpc proto M"},
		{"varied sizes", strings.Replace(ownArms, "vary:", "vary:\n  request: [1KiB, 1MiB]", 1), "arm=grpc", "grpc proto M"},
		{"sizes of an arm", strings.Replace(ownArms, "go-grpc}", "go-grpc, request: 0B}", 1), "arm=grpc", "grpc proto M"},
		{"messages of the arms", strings.Replace(ownArms, "go-grpc}", "go-grpc, codec: json, message: simple}", 1), "arm=grpc", "grpc json M"},
		{"sizes of a sweep", ownArms + "sweeps:\n  - {name: large, hold: {response: 1MiB}}\n", "arm=grpc", "grpc proto M"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"./x.yaml"}, strings.Fields(c.typed)...)
			s, err := ParseArgs(append(args, "message="+ownOrder), func(string) ([]byte, error) { return []byte(c.file), nil })
			if err != nil {
				t.Fatal(err)
			}
			if got := levelsIn(t, s, "codec", "message"); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if text, err := YAML(s); err != nil {
				t.Error(err)
			} else if again := mustFile(t, string(text)); levelsIn(t, again, "codec", "message") != c.want {
				t.Errorf("read back it is %s", levelsIn(t, again, "codec", "message"))
			}
		})
	}
}

// In a file as on a command line a message without a codec is protobuf.
func TestAMessageWithoutACodecIsProtobuf(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"study: x\nhold: {transport: go-grpc, message: simple}\n", "go-grpc proto simple"},
		{"study: x\nhold: {transport: go-grpc}\nvary: {message: [simple, complex]}\ncompare: {factor: message}\n", "complex proto complex; simple proto simple"},
		{"study: x\nvary: {arm: {a: {transport: go-grpc, message: simple}, b: {transport: go-net}}}\n", "a proto simple; b bytes "},
		{"study: x\nhold: {transport: go-grpc}\nsweeps:\n  - {name: m, hold: {message: simple}}\n", "go-grpc proto simple"},
		{"study: x\nhold: {transport: go-grpc, message: simple}\nsweeps:\n  - {name: j, hold: {codec: json}}\n  - {name: p, vary: {connections: [1, 2]}}\n", "go-grpc json simple; go-grpc proto simple"},
	} {
		if got := levelsIn(t, mustFile(t, c.file), "codec", "message"); got != c.want {
			t.Errorf("%s%s, want %s", c.file, got, c.want)
		}
	}
}

// What truly contradicts a message is still refused.
func TestAMessageIsRefusedWhereItCannotTravel(t *testing.T) {
	for typed, want := range map[string]string{
		"arm=grpc codec=bytes":    "contradicts codec=bytes",
		"arm=grpc request=1KiB":   "the message and its codec decide the size",
		"arm=grpc stream=down":    "messages are not cut",
		"arm=grpc,http blocks=2 ": "",
	} {
		args := append([]string{"./x.yaml"}, strings.Fields(typed)...)
		_, err := ParseArgs(append(args, "message="+ownOrder), func(string) ([]byte, error) { return []byte(ownArms), nil })
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", typed, err, want)
		}
	}
}
