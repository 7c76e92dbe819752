// Package treesearch is a beam search over thoughts (tree of thought): children
// of every kept state are proposed, judged, and the best of them kept, level by
// level, until a state is a goal.
//
// The engine ([Search]) knows no model, no database and no HTTP: what proposes,
// what judges and what a goal is are handed to it. Its result depends on their
// answers only, never on timing, and it carries on from levels that are stored.
// Game of 24 stands on it: [ParseNumbers], [CodeProposer], [Closeness],
// [Lookahead], [ReadProposals], [ReadVerdict] and [Expression].
//
// Source: Yao et al., Tree of Thoughts: Deliberate Problem Solving with Large
// Language Models, NeurIPS 2023, arXiv:2305.10601, algorithm 2 (ToT-BFS).
package treesearch
