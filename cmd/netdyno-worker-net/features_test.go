package main

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// What a transport does not declare it does not do, and says so rather than
// measure something else.
func TestFeaturesThatAreNotDeclaredAreRefused(t *testing.T) {
	x := contract.Exchange{UpBytes: 10, DownBytes: 10}
	for feature, ask := range map[contract.Feature]func(*contract.Setup){
		contract.FeatureTLS:        func(s *contract.Setup) { s.TLS = workertest.Certificate(t) },
		contract.FeatureFresh:      func(s *contract.Setup) { s.Load.Fresh = true },
		contract.FeatureStreamUp:   func(s *contract.Setup) { s.Exchange.Stream = contract.StreamUp },
		contract.FeatureStreamDown: func(s *contract.Setup) { s.Exchange.Stream = contract.StreamDown },
		contract.FeatureStreamBoth: func(s *contract.Setup) { s.Exchange.Stream = contract.StreamBoth },
	} {
		for _, transport := range transports {
			d := transport.Describe()
			if slices.Contains(d.Features, feature) {
				continue // its own tests ask for it
			}
			for _, role := range d.Roles {
				setup := contract.Setup{
					Transport: d.Name, Role: role, Listen: "127.0.0.1:0", Peers: []string{"127.0.0.1:1"},
					Exchange: x, Load: contract.Load{Connections: 1},
				}
				ask(&setup)
				worker := workertest.Start(t, transports...)
				worker.Send(contract.Message{Setup: &setup})
				m := worker.Next()
				if m.Error == nil || m.Error.Kind != contract.Unsupported || !m.Error.Fatal || !strings.Contains(m.Error.Text, string(feature)) {
					t.Errorf("%s as %s: %+v, want a fatal error of kind unsupported that names %s", d.Name, role, m, feature)
				}
			}
		}
	}
}
