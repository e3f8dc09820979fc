package worker

import (
	"fmt"
	"slices"

	"netdyno/internal/contract"
)

// able reports what setup asks for beyond whole messages on kept, plain
// connections and t does not declare; it would be left out without a word. A
// transport without a wire is a program of the user's, of which nothing is known.
func able(t contract.Transport, setup contract.Setup) error {
	if t.Wire == "" {
		return nil
	}
	if t.Encrypted && setup.TLS == nil {
		return fmt.Errorf("setup.tls is absent: transport %s is always encrypted; give tls=yes", t.Name)
	}
	for _, asked := range []struct {
		by      string
		is      bool
		feature contract.Feature
	}{
		{"setup.tls is given", setup.TLS != nil, contract.FeatureTLS},
		{"load.fresh is true", setup.Load.Fresh, contract.FeatureFresh},
		{fmt.Sprintf("exchange.stream is %q", setup.Exchange.Stream), setup.Exchange.Stream != "", contract.Feature("stream-" + setup.Exchange.Stream)},
	} {
		if asked.is && !slices.Contains(t.Features, asked.feature) {
			return fmt.Errorf("%s: transport %s does not have feature %s, it has %q", asked.by, t.Name, asked.feature, t.Features)
		}
	}
	return nil
}
