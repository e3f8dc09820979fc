package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"netdyno/internal/contract"
	"netdyno/internal/read/cost"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
)

// The built-in studies that netdyno cost runs: of messages, and of streams, for
// transports that have no messages.
const (
	costStudy       = "cost"
	costStreamStudy = "cost-stream"
)

func costCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "cost TRANSPORT[,TRANSPORT…] [KEY=LEVEL…]",
		Short: "Measure what an exchange costs at both ends, as a model of its bytes and connections",
		Long: `Measure what an exchange costs in CPU at both ends, and a process in memory, over
sizes from 64 B to 4 MiB each way and up to 256 connections, and fit a model to
each. A model is held to cells that it has not seen, and given with what one in ten of
them is missed by: above 10 % it is rough, above 50 % refused. Levels of which too few
would be held back are refused before anything is measured.

It is the built-in study cost, or cost-stream where a transport has no messages
(netdyno studies cost), and KEY=LEVEL changes it as in netdyno run: each level of
codec or of an option has a model of its own. One transport takes less than four
minutes, two are compared besides and take about eleven. netdyno cost plan says from it
what a load will need.`,
		Example: `  netdyno cost go-grpc,go-http1
  netdyno cost go-net,go-epoll
  netdyno cost go-http1 tls=yes,no --rig ssh:node1,node2
  netdyno cost go-grpc codec=proto message=complex blocks=3`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeTransport,
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := costArguments(cmd.Context(), args)
			if err != nil {
				return err
			}
			f.costs = true
			return run(cmd.Context(), args, f)
		},
	}
	f.declare(c)
	c.AddCommand(forecastCommand())
	return c
}

// costArguments makes the arguments of a run: the study that every transport can
// carry, and the transports.
func costArguments(ctx context.Context, args []string) ([]string, error) {
	if strings.Contains(args[0], "=") {
		return nil, fmt.Errorf("cost: found %s; expected transports first, such as netdyno cost go-grpc,go-http1", args[0])
	}
	catalog, err := session.Discover(ctx, nil)
	if err != nil {
		return nil, err
	}
	var bare, whole []string
	for name := range strings.SplitSeq(args[0], ",") {
		offer, err := catalog.Named(name)
		if err != nil {
			return nil, err
		}
		streams := func(f contract.Feature) bool { return slices.Contains(offer.Features, f) }
		switch {
		case offer.Wire == echoWire:
			bare = append(bare, name)
		case !streams(contract.FeatureStreamUp) || !streams(contract.FeatureStreamDown):
			whole = append(whole, name)
		}
	}
	study := costStudy
	if len(bare) > 0 {
		study = costStreamStudy
	}
	if len(bare) > 0 && len(whole) > 0 {
		return nil, fmt.Errorf("cost: %s has no messages of two sizes and %s no streams both ways, so no study carries both; measure each by itself, and name both runs with netdyno cost plan --from", bare[0], whole[0])
	}
	return append([]string{study, "transport=" + args[0]}, args[1:]...), nil
}

// readyForCosts says of the models that the study asks for which its plan could never
// give. It is an error of netdyno cost, and a remark of a run that has other views.
func (f runFlags) readyForCosts(s *session.Session) error {
	summary := study.Summary(s.Study)
	if f.costs && len(summary.Costs) == 0 {
		return errors.New("cost: the study as it was changed has no numbers left that a model could be of; netdyno studies show cost lists its levels")
	}
	unready, err := cost.Unready(summary, s.Trials)
	switch {
	case err != nil:
		return err
	case len(unready) == 0:
		return nil
	case f.costs:
		return fmt.Errorf("cost: nothing was measured, since the plan could give no model of %s. Leave more levels of the study as they are (netdyno studies show %s)", unready[0], summary.Name)
	}
	for _, why := range unready {
		remark("there will be no model of " + why)
	}
	return nil
}

// echoWire carries no messages of two sizes.
const echoWire = "echo"
