package main

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"netdyno/internal/contract"
	"netdyno/internal/each"
	"netdyno/internal/quantity"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/session"
)

func transportsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "transports [NAME]",
		Short: "List the transports of every worker found, or describe one",
		Args:  cobra.MaximumNArgs(1),

		ValidArgsFunction: completeTransport,
		RunE: func(cmd *cobra.Command, args []string) error {
			catalog, err := session.Discover(cmd.Context(), nil)
			if err != nil {
				return err
			}
			for _, a := range catalog.Absent {
				stderr.say("netdyno: %s is left out: %s; %s", a.About, a.Text, a.Advice)
			}
			offers := catalog.Offers()
			if len(args) == 1 {
				offer, err := catalog.Named(args[0])
				if err != nil {
					return err
				}
				offers = []bench.Offer{offer}
			}
			if asJSON {
				all := each.Of(offers, func(o bench.Offer) contract.Transport { return o.Transport })
				return showJSON(all)
			}
			if len(args) == 1 {
				describe(offers[0])
				return nil
			}
			w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "TRANSPORT\tWIRE\tROLES\tWORKER\t")
			for _, o := range offers {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", o.Name, cmp.Or(o.Wire, "any"), roles(o.Roles), filepath.Base(o.Program.Path), o.Doc)
			}
			return w.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the workers' own descriptions as JSON")
	return c
}

func roles(r []contract.Role) string {
	words := make([]string, len(r))
	for i := range r {
		words[i] = string(r[i])
	}
	return strings.Join(words, ",")
}

func describe(o bench.Offer) {
	delivery := "chunks as they come"
	if o.Delivery == contract.DeliveryMessage {
		delivery = "whole messages"
	}
	stdout.say("%s: %s", o.Name, o.Doc)
	stdout.say("  wire %s, roles %s, delivers %s, in %s", cmp.Or(o.Wire, "any"), roles(o.Roles), delivery, o.Program.Path)
	if len(o.Codecs) > 0 {
		fmt.Fprintf(stdout, "  codecs %s\n", strings.Join(o.Codecs, ", "))
	}
	has := o.Features
	if o.Encrypted {
		fmt.Fprintln(stdout, "  needs tls=yes")
		has = slices.DeleteFunc(slices.Clone(has), func(f contract.Feature) bool { return f == contract.FeatureTLS })
	}
	if words := featureWords(has); words != "" {
		fmt.Fprintf(stdout, "  can also %s\n", words)
	}
	for _, option := range o.Options {
		fmt.Fprintf(stdout, "  opt.%s  %s, default %v", option.Name, option.Type, defaultText(option))
		if len(option.Choices) > 0 {
			fmt.Fprintf(stdout, ", one of %s", strings.Join(option.Choices, ", "))
		}
		if len(option.Roles) > 0 {
			fmt.Fprintf(stdout, ", %s only", roles(option.Roles))
		}
		fmt.Fprintf(stdout, "\n      %s\n", option.Doc)
		for _, role := range slices.Sorted(maps.Keys(option.As)) {
			fmt.Fprintf(stdout, "      elsewhere, of the %s: %s\n", role, option.As[role])
		}
	}
}

// featureWords says how the features are asked for. One that a worker names and netdyno
// does not know is passed over.
func featureWords(has []contract.Feature) string {
	var words []string
	for _, f := range bench.Features {
		if slices.Contains(has, f.Feature) {
			words = append(words, f.Asked)
		}
	}
	return strings.Join(words, ", ")
}

// defaultText prints a default in the unit in which users type it.
func defaultText(o contract.Option) string {
	number, ok := o.Default.(float64) // as JSON has it
	switch {
	case ok && o.Type == contract.TypeDuration:
		return quantity.DurationText(time.Duration(number))
	case ok && o.Type == contract.TypeBytes:
		return quantity.BytesText(int64(number))
	case o.Default == "":
		return "empty"
	}
	return fmt.Sprint(o.Default)
}
