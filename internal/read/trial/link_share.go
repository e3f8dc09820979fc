package trial

import (
	"strconv"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// ShareLinks sets every valid trial's share of its link's nominal rate, of which
// the cards' part stands among the facts and not in the records.
func ShareLinks(facts record.Facts, judged []*Judged) {
	nominal := cardRates(facts)
	m, err := metric.Named(metric.LinkRateShare)
	if err != nil || len(nominal) == 0 {
		return
	}
	for _, v := range judged {
		if v.Record == nil || v.Trial.Status != Valid {
			continue
		}
		w := record.NewWindow(v.Record)
		w.Nominal = nominal
		if share, ok := m.In(w); ok {
			v.Trial.Values[metric.LinkRateShare] = share
		}
	}
}

// cardRates returns what the network cards are rated at, in bits per second, by
// "seat/eth0". A veth has no card: the speed that it reports is made up.
func cardRates(f record.Facts) map[string]float64 {
	rates := map[string]float64{}
	for seat, host := range f.Seats {
		for name, value := range host.Values {
			card, is := strings.CutSuffix(name, ".speed_mbit_per_s")
			card, nic := strings.CutPrefix(card, "nic.")
			if !is || !nic || host.Values["nic."+card+".driver"] == "veth" {
				continue
			}
			if mbit, err := strconv.ParseFloat(value, 64); err == nil && mbit > 0 {
				rates[seat+"/"+card] = mbit * 1e6
			}
		}
	}
	return rates
}
