package report

import "netdyno/internal/quantity"

// A page holds the accounts of at most so many trials, and their records while these
// have at most so many bytes of JSON: about a third of that when packed.
const (
	maxAccounts    = 300
	maxRecordBytes = 3_000_000
)

// accounts are those of all trials, without their records where these are too large;
// none of a run of more trials than a page holds.
func (l *layout) accounts() []Account {
	if len(l.Trials) == 0 || len(l.Trials) > maxAccounts {
		return nil
	}
	all, size := make([]Account, 0, len(l.Trials)), 0
	for _, v := range l.Trials {
		a := accountOf(l.Header.Study, v)
		size += len(a.Record)
		all = append(all, a)
	}
	if size > maxRecordBytes {
		for i := range all {
			all[i].Record = ""
		}
	}
	return all
}

// beyond says what of a trial the page does not hold.
func beyond(trials int, accounts []Account) string {
	switch {
	case len(accounts) == 0 && trials > 0:
		return "A page holds the settings, checks and records of at most " + quantity.Plural(maxAccounts, "trial") + "; of this run's this command prints them:"
	case len(accounts) > 0 && accounts[0].Record == "":
		return "The records are too large for this page; records.jsonl has them. The account of this trial as text:"
	}
	return ""
}
