package layout

// block is a run of values that isotonic gives the same height: from is its first index.
type block struct {
	from        int
	sum, weight float64
}

// isotonic replaces the targets by the ascending values that are closest to them in the sum of weighted squares. It pools adjacent
// violators: as long as a run lies lower than the run before it, the two become one run at their common mean. All weights must be
// positive. The blocks are memory to work in; isotonic returns them so that they can be used again.
func isotonic(target, weight []float64, blocks []block) []block {
	blocks = blocks[:0]
	for i, t := range target {
		b := block{from: i, sum: t * weight[i], weight: weight[i]}
		for n := len(blocks); n > 0 && blocks[n-1].sum*b.weight >= b.sum*blocks[n-1].weight; n-- {
			b.from = blocks[n-1].from
			b.sum += blocks[n-1].sum
			b.weight += blocks[n-1].weight
			blocks = blocks[:n-1]
		}
		blocks = append(blocks, b)
	}
	end := len(target)
	for k := len(blocks) - 1; k >= 0; k-- {
		b := blocks[k]
		mean := b.sum / b.weight
		for i := b.from; i < end; i++ {
			target[i] = mean
		}
		end = b.from
	}
	return blocks
}
