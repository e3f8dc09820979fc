package main

func (p *plan) preflight() error { return nil }
