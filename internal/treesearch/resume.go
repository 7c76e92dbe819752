package treesearch

import "fmt"

// checkLevels returns [ErrLevels] for levels that no search from root with this
// many levels at most can have left. It cannot tell whether the root, the
// proposer or the judge were others.
func checkLevels(root Node, done []Level, maxDepth int) error {
	if len(done) > maxDepth {
		return fmt.Errorf("%w: %d levels are done, and max_depth is %d", ErrLevels, len(done), maxDepth)
	}
	parents := map[string]bool{root.ID: true}
	for i, l := range done {
		if l.Depth != i+1 {
			return fmt.Errorf("%w: level %d says depth %d", ErrLevels, i+1, l.Depth)
		}
		if len(parents) == 0 {
			return fmt.Errorf("%w: level %d has no parents", ErrLevels, l.Depth)
		}
		for index, n := range l.Nodes() {
			if n.ID != id(l.Depth, index) || n.Depth != l.Depth || n.Index != index || !parents[n.ParentID] {
				return fmt.Errorf("%w: level %d holds node %q of parent %q where %q belongs", ErrLevels, l.Depth, n.ID, n.ParentID, id(l.Depth, index))
			}
		}
		if l.Goal != nil && (len(l.Kept) != 1 || *l.Goal != l.Kept[0] || i < len(done)-1) {
			return fmt.Errorf("%w: the goal of level %d is not the one node that it keeps, at the end", ErrLevels, l.Depth)
		}
		clear(parents)
		for _, n := range l.Kept {
			parents[n.ID] = true
		}
	}
	return nil
}
