package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
)

// ResolveAddress gives the host its address where it has none: the first IPv4 address
// of an interface there, by ip-address(8). An address that is given must be one.
func (h *Host) ResolveAddress(ctx context.Context, onInterface string) error {
	if h.Address == "" && onInterface != "" {
		found, err := h.addressOn(ctx, onInterface)
		if err != nil {
			return err
		}
		h.Address = found
	}
	if _, err := netip.ParseAddr(h.Address); err != nil {
		return fmt.Errorf("address %q of %s is not an IP address; expected one of the data network, or the name of its interface", h.Address, h.Name)
	}
	h.Sources = []string{h.Address}
	return nil
}

func (h *Host) addressOn(ctx context.Context, name string) (string, error) {
	out, err := h.Ask(ctx, nil, "ip", "-json", "-4", "address", "show", "dev", name)
	if err != nil {
		return "", fmt.Errorf("address on interface %s: %w", name, err)
	}
	var devices []struct {
		Addresses []struct {
			Local string `json:"local"`
		} `json:"addr_info"`
	}
	if err := json.Unmarshal(out, &devices); err != nil {
		return "", fmt.Errorf("address on interface %s of %s: %w", name, h.Name, err)
	}
	for _, d := range devices {
		for _, a := range d.Addresses {
			if a.Local != "" {
				return a.Local, nil
			}
		}
	}
	return "", fmt.Errorf("interface %s of %s has no IPv4 address", name, h.Name)
}
