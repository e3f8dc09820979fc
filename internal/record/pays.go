package record

// Pays is a replacement that a study weighs: what the CPU time is worth that some
// arms save over others which move the same work.
type Pays struct {
	Title     string            `json:"title"` // what would be bought: "RDMA"
	Arms      []string          `json:"arms"`  // that have it
	InsteadOf []string          `json:"instead_of"`
	Where     map[string]string `json:"where,omitempty"` // only trials at these levels
}
