// Package finding turns records into findings: what each arm did, how the
// arms compare, what limited them, and whether to believe it, with the sentences
// and warnings that say so. It is pure: the same records give the same findings.
package finding

import (
	"netdyno/internal/read/answer"
	"netdyno/internal/read/best"
	"netdyno/internal/read/capacity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/claim"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/cost"
	"netdyno/internal/read/fit"
	"netdyno/internal/read/ladder"
	"netdyno/internal/read/link"
	"netdyno/internal/read/mesh"
	"netdyno/internal/read/pays"
	"netdyno/internal/read/profile"
	"netdyno/internal/read/published"
	"netdyno/internal/read/race"
	"netdyno/internal/read/reach"
	"netdyno/internal/read/shape"
	"netdyno/internal/read/trial"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// Schema is the version of findings.json: one more when a field goes or changes its
// meaning. New fields do not change it.
const Schema = 3

// Findings is everything that can be said about one run.
type Findings struct {
	Schema int `json:"schema"`
	compare.Run
	Answer       answer.Answer        `json:"answer"`          // to the study's question
	Answers      []string             `json:"answers"`         // sentences, one per primary comparison worth saying
	Stage        *cells.Stage         `json:"stage,omitempty"` // at which the run is judged; nil when the study declares none
	Published    published.Figures    `json:"published,omitempty"`
	Shapes       shape.Shapes         `json:"shapes,omitempty"`      // of published ratios, beside a window
	Profiles     []profile.Profile    `json:"profiles,omitempty"`    // by cell and arm in the study's order, the server first
	Differences  []profile.Difference `json:"differences,omitempty"` // of the profiles of compared arms, likewise
	Why          *profile.Why         `json:"why,omitempty"`         // the arms differ, by their profiles
	Overheads    []profile.Overhead   `json:"overheads,omitempty"`   // of probing, by cell and arm
	Flames       []profile.Flame      `json:"-"`                     // likewise, for the page; the run's pprof files hold them whole
	ProfileFiles *profile.Files       `json:"-"`                     // which a report writes beside itself; nil without probes
	Timelines    []view.Timeline      `json:"timelines,omitempty"`   // of one trial of each arm and cell, where trials have one
	Charts       view.Charts          `json:"charts,omitempty"`      // as Header.Study.Charts
	Fits         fit.Fits             `json:"fits,omitempty"`        // as Header.Study.Fits
	Reaches      reach.Reaches        `json:"searches,omitempty"`    // as Header.Study.Reaches
	Pays         pays.Replacements    `json:"pays,omitempty"`        // as Header.Study.Pays
	Link         *link.Link           `json:"link,omitempty"`        // as Header.Study.Fills
	Costs        cost.Costs           `json:"costs,omitempty"`       // as Header.Study.Costs
	Claims       claim.Claims         `json:"claims,omitempty"`      // as Header.Study.Claims
	Best         *best.Judged         `json:"best,omitempty"`        // which arms may be the best, and what to use by that; nil where figures chose what was run
	Ladders      ladder.Ladders       `json:"ladders,omitempty"`     // as Header.Study.Ladders
	Floors       []Floor              `json:"floors,omitempty"`      // of arms whose times are not much above what their path takes by itself
	Mesh         *mesh.Mesh           `json:"mesh,omitempty"`        // of a study whose cells are pairs of hosts
	Race         *race.Race           `json:"race,omitempty"`        // of a study that races its arms
	Capacity     *capacity.Capacity   `json:"capacity,omitempty"`    // of a study that searches for the highest rate
	ServerReport *ServerReport        `json:"served,omitempty"`      // what a server started by netdyno listen counted itself
	Sent         *Sent                `json:"sent,omitempty"`        // requests to the servers in all; of a run by URL
	Seating      []Seated             `json:"seating"`               // who sat where, the server's seat first
	Warnings     []record.Warning     `json:"warnings"`
	Trials       []*trial.Judged      `json:"-"` // in the plan's order, with the caller's records: for what is said of one trial
}
