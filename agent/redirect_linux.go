package agent

// follow has the user ask where the answer has sent it, within the same request:
// its latency and its deadline go on. It returns false when there is no redirect
// to follow.
func (l *loop) follow(u *user) bool {
	kept := !l.load.Close && !u.over && u.answer.kept() && u.sent == len(u.request)
	is, err := u.redirect()
	switch {
	case !is:
		return false
	case err != nil:
		l.fail(u, kindProtocol, err)
		return true
	}
	l.tally.redirects++
	if !kept {
		l.hangUp(u)
	}
	u.cut, u.over = false, false
	l.ask(u)
	return true
}
