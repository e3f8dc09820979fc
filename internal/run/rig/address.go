package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
)

// Settle gives the place its address where it has none: the first IPv4 address
// of an interface there, by ip-address(8). An address that is given must be one.
func (p *Place) Settle(ctx context.Context, onInterface string) error {
	if p.Address == "" && onInterface != "" {
		found, err := p.addressOn(ctx, onInterface)
		if err != nil {
			return err
		}
		p.Address = found
	}
	if _, err := netip.ParseAddr(p.Address); err != nil {
		return fmt.Errorf("address %q of %s is none; expected an IP address of the data network, or its interface", p.Address, p.Name)
	}
	p.Sources = []string{p.Address}
	return nil
}

func (p *Place) addressOn(ctx context.Context, name string) (string, error) {
	out, err := p.Ask(ctx, nil, "ip", "-json", "-4", "address", "show", "dev", name)
	if err != nil {
		return "", fmt.Errorf("address on interface %s: %w", name, err)
	}
	var devices []struct {
		Addresses []struct {
			Local string `json:"local"`
		} `json:"addr_info"`
	}
	if err := json.Unmarshal(out, &devices); err != nil {
		return "", fmt.Errorf("address on interface %s of %s: %w", name, p.Name, err)
	}
	for _, d := range devices {
		for _, a := range d.Addresses {
			if a.Local != "" {
				return a.Local, nil
			}
		}
	}
	return "", fmt.Errorf("interface %s of %s has no IPv4 address", name, p.Name)
}
