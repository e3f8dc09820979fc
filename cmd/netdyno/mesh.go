package main

import "github.com/spf13/cobra"

// meshStudy is the built-in study that netdyno mesh runs.
const meshStudy = "mesh"

func meshCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "mesh --rig RIG [KEY=LEVEL…]",
		Short: "Measure every pair of a rig's hosts and name those that are not as good as the others",
		Long: `Measure every ordered pair of the hosts of a rig, in several blocks: how much it
streams one way, what that costs in CPU at both ends, and how long a small message
takes there and back. Pairs without a host in common run at the same time, so a
block takes as long as there are hosts, not pairs, until the fabric is full.

The report names hosts, cables, pairs and leaves that are worse than the others,
with their evidence, and shows every pair in a heat map. It is the built-in study
mesh (netdyno studies mesh), and KEY=LEVEL changes it as in netdyno run. Hosts are
all those of the rig, or server.host=A,B,C client.host=A,B,C.`,
		Example: `  netdyno mesh --rig 'netns:8?rate=100Mbit'
  netdyno mesh --rig ssh:node1,node2,node3,node4
  netdyno mesh --rig slurm:32 transport=asio connections=4 blocks=5
  netdyno mesh --rig racks.yaml window=1s --out before-the-change`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeStudy,
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), append([]string{meshStudy}, args...), f)
		},
	}
	f.declare(c)
	return c
}
