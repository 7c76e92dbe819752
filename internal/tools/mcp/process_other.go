//go:build !unix

package mcp

import "os/exec"

// ownGroup does nothing where there are no groups of processes.
func ownGroup(*exec.Cmd) {}

// terminate ends a command: it cannot be asked to.
func terminate(cmd *exec.Cmd) { kill(cmd) }

// kill ends a command.
func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
