package bench

import (
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/run/identity"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// credentials returns what the two ends of an encrypted trial need, nil for a
// plain one. A server's certificate is made once for the run, for the address
// at which it listens, and its clients trust that one alone.
func (b *Bench) credentials(w study.Work, server rig.Seat) (serverTLS, clientTLS *contract.TLS, err error) {
	if !w.TLS {
		return nil, nil, nil
	}
	b.sealing.Lock()
	defer b.sealing.Unlock()
	own := b.identities[server.Address]
	if own == nil {
		if own, err = identity.New(server.Address); err != nil {
			return nil, nil, fmt.Errorf("make a certificate for %s: %w", server.Address, err)
		}
		if b.identities == nil {
			b.identities = map[string]*contract.TLS{}
		}
		b.identities[server.Address] = own
	}
	return own, &contract.TLS{Authorities: own.Authorities}, nil
}

// recorded returns the setup as the record keeps it: without the private key.
func recorded(setup contract.Setup) *contract.Setup {
	if setup.TLS != nil {
		public := *setup.TLS
		public.Key = ""
		setup.TLS = &public
	}
	return &setup
}
