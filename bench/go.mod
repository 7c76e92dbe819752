module planwave/bench

go 1.26.8

require planwave v0.0.0

replace planwave => ..
