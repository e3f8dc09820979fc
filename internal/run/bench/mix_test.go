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
	message := contract.Class{Name: "a", End: contract.TableEnd, Codec: "proto", Message: &contract.Structure{Name: "simple"}}
	chunks := contract.Class{Name: "a", End: contract.TableEnd, DownBytes: 5, Stream: contract.StreamDown}
	plain := contract.Class{Name: "a", End: contract.TableEnd, UpBytes: 5, DownBytes: 5}
	for _, c := range []struct {
		name     string
		class    contract.Class
		wire     string
		codecs   []string
		features []contract.Feature
		words    string
	}{
		{"mpi", plain, "mpi", nil, []contract.Feature{contract.FeatureArrivals}, "transport mpi does not have feature mix (classes of a workload); it has arrivals"},
		{"uring", message, echo, nil, []contract.Feature{contract.FeatureMix}, "wire echo has no header by which its server could know which class a request is of"},
		{"go-quic", chunks, quic, nil, []contract.Feature{contract.FeatureMix}, "wire quic has no header"},
		{"exec", message, "", nil, nil, "which a server of somebody else's does not know"},
		{"http1-asio", message, http, nil, []contract.Feature{contract.FeatureMix}, "class a: transport http1-asio carries codec bytes, not proto"},
		{"gin", message, http, []string{"bytes", "proto"}, []contract.Feature{contract.FeatureMix}, "does not have feature messages (codecs and messages of classes)"},
		{"go-http1", chunks, http, nil, []contract.Feature{contract.FeatureMix}, "does not have feature streams (streams of classes)"},
		{"go-http1", message, http, []string{"bytes", "proto"}, []contract.Feature{contract.FeatureMix, contract.FeatureMessages}, ""},
		{"go-grpc", chunks, "grpc:netdyno.v1", nil, []contract.Feature{contract.FeatureMix, contract.FeatureStreams}, ""},
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
		server := withoutMix(w.Load)
		if told := c.class.Codec != "" || c.class.Stream != ""; told != (len(server.Classes) == 1) {
			t.Errorf("%s: the server is told %+v", c.name, server.Classes)
		}
	}
}
