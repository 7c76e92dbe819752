//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// ownGroup starts a command as the head of a group of processes, so that what
// it starts can be ended with it: npx and sh start the server as their child.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks a command and all that it started to end.
func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// kill ends a command and all that it started.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
