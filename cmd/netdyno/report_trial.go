package main

import (
	"fmt"
	"io"

	"netdyno/internal/read/report"
	"netdyno/internal/run/session"
)

// showTrial prints the account of one trial; no report is written.
func showTrial(d session.Directory, id string) error {
	r, err := readAloud(d)
	if err != nil {
		return err
	}
	account, err := report.NewAccount(r.Findings, id)
	if err != nil {
		return fmt.Errorf("report --trial: %w", err)
	}
	return showText(func(w io.Writer, opt report.TextOptions) error { return account.Text(w, opt) })
}
