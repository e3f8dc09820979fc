package record

// NextLook returns the blocks of the study's first look beyond some blocks; 0
// when there is none.
func (s Study) NextLook(blocks int) int {
	for _, look := range s.Looks() {
		if look > blocks {
			return look
		}
	}
	return 0
}

// StoppedAt returns where a run stopped; nil when it did not, or at no look of
// its study.
func (h Header) StoppedAt() *Stop {
	at, looks := h.Stopped, h.Study.Looks()
	if at == nil || len(looks) < 2 || at.Stage < 1 || at.Stage > len(looks) || looks[at.Stage-1] != at.Blocks {
		return nil
	}
	return at
}

// Horizon returns the last block that a run carries out, its probes apart: the
// one where it stopped; else that of the look which its records show it was told
// to go on to; else that of its study's last look without --continue.
func Horizon(header Header, trials []Trial, records []Record) int {
	if stopped := header.StoppedAt(); stopped != nil {
		return stopped.Blocks
	}
	begun := 0
	block := map[string]int{}
	for _, t := range trials {
		if !t.Probe {
			block[t.ID] = t.Block
		}
	}
	for i := range records {
		begun = max(begun, block[records[i].Trial.ID])
	}
	for _, blocks := range header.Study.Looks() {
		if blocks >= max(begun, header.Study.Blocks) {
			return blocks
		}
	}
	return max(begun, header.Study.Blocks)
}
