package source

import (
	"reflect"
	"strings"
	"testing"
)

// Arms that a command adds are those of an ordinary study, also when its file is
// read again; a typed key wins over an arm's.
func TestAddArm(t *testing.T) {
	a, err := ReadArguments([]string{"study=mine", "connections=1,10", "client=fasthttp", "blocks=2"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"127.0.0.1:8080", "[::1]:8081/a"} {
		if err := a.AddArm("http://"+name, name, map[string]string{"server": "address", "client": "go-http1", "opt.server.address": name, "response": "615B"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.AddArm("http://127.0.0.1:8080", "127.0.0.1:8080", nil); err == nil || !strings.Contains(err.Error(), "named twice") {
		t.Errorf("one arm twice: %v", err)
	}
	if err := a.AddArm("http://x", "a b", nil); err == nil || !strings.Contains(err.Error(), "not a name") {
		t.Errorf("a bad name: %v", err)
	}
	s, err := a.Study(nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Compare.Factor != "arm" || s.Compare.Baseline != "127.0.0.1:8080" {
		t.Errorf("compares %+v", s.Compare)
	}
	text, err := YAML(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseFile("again.yaml", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	before, _, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	after, _, err := again.Plan()
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("another plan from the file: %v", err)
	}
	if before[0].Levels["client"] != "fasthttp" || before[0].Levels["opt.server.address"] == "" {
		t.Errorf("levels %v", before[0].Levels)
	}
}

func TestAddArmToAFile(t *testing.T) {
	a, err := ReadArguments([]string{"event-loops"})
	if err == nil {
		err = a.AddArm("http://x", "x", nil)
	}
	if err == nil || !strings.Contains(err.Error(), "expected KEY=LEVEL") {
		t.Errorf("an arm beside a study: %v", err)
	}
}
