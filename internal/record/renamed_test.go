package record

import (
	"reflect"
	"testing"
)

func TestRenamedLevelsAreOnePerFactor(t *testing.T) {
	for _, c := range []struct{ factor, level, want string }{
		{"placement", "apart", "separate"}, {"placement", "shared", "shared"}, {"message", "apart", "apart"},
		{"transport", "brpc-cpp", "brpc"}, {"server", "brpc-cpp", "brpc"}, {"client", "brpc", "brpc"},
	} {
		if got := CurrentLevel(c.factor, c.level); got != c.want {
			t.Errorf("%s=%s is %s today, want %s", c.factor, c.level, got, c.want)
		}
	}
	for _, r := range renamed {
		if got := CurrentLevel(r.factor, r.now); got != r.now {
			t.Errorf("%s=%s was renamed to %s, which was renamed to %s", r.factor, r.old, r.now, got)
		}
	}
}

func TestAnOldRunIsComparedUnderNewNames(t *testing.T) {
	old := map[string]string{"placement": "apart", "server": "brpc-cpp", "connections": "50"}
	h := Header{Study: Study{
		Hold: old, Vary: []Factor{{Name: "server", Levels: []string{"brpc-cpp", "go-net"}}, {Name: "placement", Levels: []string{"apart", "shared"}}},
		Compare: Compare{Factor: "server", Baseline: "brpc-cpp"},
	}}
	trial := Trial{Cell: "placement=apart connections=50", Arm: "brpc-cpp", Levels: old}
	trials, records := []Trial{trial}, []Record{{Trial: trial}}
	CurrentNames(&h, trials, records)
	now := map[string]string{"placement": "separate", "server": "brpc", "connections": "50"}
	want := Trial{Cell: "placement=separate connections=50", Arm: "brpc", Levels: now}
	if !reflect.DeepEqual(trials[0], want) || !reflect.DeepEqual(records[0].Trial, want) {
		t.Errorf("trials %+v, records %+v, want %+v", trials[0], records[0].Trial, want)
	}
	wantStudy := Study{
		Hold: now, Vary: []Factor{{Name: "server", Levels: []string{"brpc", "go-net"}}, {Name: "placement", Levels: []string{"separate", "shared"}}},
		Compare: Compare{Factor: "server", Baseline: "brpc"},
	}
	if !reflect.DeepEqual(h.Study, wantStudy) {
		t.Errorf("the study is %+v, want %+v", h.Study, wantStudy)
	}
	if old["placement"] != "apart" {
		t.Error("the levels that were read have changed")
	}
}
