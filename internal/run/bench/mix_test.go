package bench

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/run/study"
)

// A mix that an end cannot carry is refused in words that say what is missing and why.
func TestMixesSayWhatTheyNeed(t *testing.T) {
	const http = "http/1.1"
	plain := contract.Class{Name: "a", End: contract.TableEnd, UpBytes: 5, DownBytes: 5}
	for _, c := range []struct {
		name     string
		class    contract.Class
		wire     string
		codecs   []string
		features []contract.Feature
		words    string
	}{
		{"go-http1", plain, http, nil, []contract.Feature{contract.FeatureMix}, ""},
		{"mpi", plain, "mpi", nil, []contract.Feature{contract.FeatureArrivals}, "transport mpi does not have feature mix (classes of a workload); it has arrivals"},
	} {
		roles := []contract.Role{contract.Server, contract.Client}
		end := contract.Transport{Name: c.name, Wire: c.wire, Roles: roles, Codecs: c.codecs, Features: c.features}
		catalog := Catalog{Programs: []Program{{Hello: contract.Hello{Transports: []contract.Transport{end}}}}}
		w := study.Work{Server: c.name, Client: c.name, Load: contract.Load{Connections: 1, Classes: []contract.Class{c.class}}}
		if c.wire == "" {
			w.BothOptions = map[string]string{"wire": http}
		}
		err := catalog.Pairs(w)
		if (err == nil) != (c.words == "") || err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v, want %q", c.name, err, c.words)
		}
	}
}

// A client that does not tell stages, or does not resume sessions, is refused where the study asks for that.
func TestStagesNeedAClientThatTellsThem(t *testing.T) {
	asked := map[contract.Feature]study.Work{
		contract.FeatureStages: {Stages: true}, contract.FeatureResume: {Resume: true},
	}
	for feature, w := range asked {
		for _, has := range []bool{true, false} {
			end := contract.Transport{Name: "http", Wire: "http/1.1", Roles: []contract.Role{contract.Server, contract.Client}}
			if has {
				end.Features = []contract.Feature{feature}
			}
			catalog := Catalog{Programs: []Program{{Hello: contract.Hello{Transports: []contract.Transport{end}}}}}
			w.Server, w.Client, w.Load.Connections = "http", "http", 1
			if err := catalog.Pairs(w); (err == nil) != has || err != nil && !strings.Contains(err.Error(), "feature "+string(feature)) {
				t.Errorf("feature %s, which it has: %t: %v", feature, has, err)
			}
			if err := catalog.Pairs(study.Work{Server: "http", Client: "http", MayStages: true, Load: w.Load}); err != nil {
				t.Error(err)
			}
		}
	}
}
