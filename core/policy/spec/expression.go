package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wardlet/wardlet/core/api"
)

// maxExpression is the greatest length of a group's expression in bytes. It also bounds how
// deep the expression nests.
const maxExpression = 1024

// Expression is the expression of a group: the name of a member, "!" with another
// expression, or expressions with "&&" or "||" between them.
type Expression struct {
	// op is 0 for a name, else '!', '&' or '|'.
	op   byte
	name string
	of   []*Expression
}

// parseExpression reads names of policies, "!", "&&", "||" and parentheses. "!" binds most
// tightly, then "&&".
func parseExpression(text string) (*Expression, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("%d bytes long, more than the %d it may have", len(text), maxExpression)
	}
	if strings.IndexByte(text, 0) >= 0 {
		return nil, errors.New("it has a character NUL")
	}
	p := &expressionParser{text: text}
	e, err := p.operands('|')
	if err == nil && p.peek() != 0 {
		err = p.fault("want &&, || or the end")
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

type expressionParser struct {
	text string
	at   int
}

// peek returns the next character that is no space, 0 at the end.
func (p *expressionParser) peek() byte {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// fault returns an error at the current position.
func (p *expressionParser) fault(want string) error {
	if p.peek() == 0 {
		return fmt.Errorf("%s, found the end", want)
	}
	return fmt.Errorf("%s, found %.40q", want, p.text[p.at:])
}

// operands reads the operands of "||", or of "&&".
func (p *expressionParser) operands(op byte) (*Expression, error) {
	below := p.operand
	if op == '|' {
		below = func() (*Expression, error) { return p.operands('&') }
	}
	e := &Expression{op: op}
	for {
		one, err := below()
		if err != nil {
			return nil, err
		}
		e.of = append(e.of, one)
		if p.peek() != op {
			break
		}
		if !strings.HasPrefix(p.text[p.at:], string([]byte{op, op})) {
			return nil, p.fault(fmt.Sprintf("want %c%c", op, op))
		}
		p.at += 2
	}
	if len(e.of) == 1 {
		return e.of[0], nil
	}
	return e, nil
}

// operand reads a name, or an expression with "!" or in parentheses.
func (p *expressionParser) operand() (*Expression, error) {
	switch c := p.peek(); c {
	case '!':
		p.at++
		e, err := p.operand()
		return &Expression{op: '!', of: []*Expression{e}}, err
	case '(':
		p.at++
		e, err := p.operands('|')
		if err == nil && p.peek() != ')' {
			err = p.fault("want )")
		}
		p.at++
		return e, err
	}
	rest := p.text[p.at:]
	end := strings.IndexFunc(rest, func(r rune) bool { return !isLabelRune(r) })
	if end < 0 {
		end = len(rest)
	}
	if end == 0 {
		return nil, p.fault("want the name of a policy, ! or (")
	}
	p.at += end
	return &Expression{name: rest[:end]}, nil
}

// isLabelRune reports whether a DNS label may contain r.
func isLabelRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-'
}

// Names returns the names of the members, each once, in their order.
func (e *Expression) Names() (all []string) {
	if e.op == 0 {
		return []string{e.name}
	}
	for _, x := range e.of {
		for _, name := range x.Names() {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// Count returns how many names the expression has; a repeated name counts each time.
func (e *Expression) Count() (n int) {
	if e.op == 0 {
		return 1
	}
	for _, x := range e.of {
		n += x.Count()
	}
	return n
}

// Value evaluates the expression on the members' answers. Allow is true and Deny is
// false. Hold is unknown: it is the value only if the other answers do not decide. A
// member that abstains is ignored.
func (e *Expression) Value(of func(name string) api.Answer) api.Answer {
	switch e.op {
	case 0:
		return of(e.name)
	case '!':
		switch v := e.of[0].Value(of); v {
		case api.Allow:
			return api.Deny
		case api.Deny:
			return api.Allow
		default:
			return v
		}
	}
	order := []api.Answer{api.Deny, api.Hold, api.Allow}
	if e.op == '|' {
		slices.Reverse(order)
	}
	strongest := len(order)
	for _, x := range e.of {
		if i := slices.Index(order, x.Value(of)); i >= 0 {
			strongest = min(strongest, i)
		}
	}
	if strongest == len(order) {
		return api.Abstain
	}
	return order[strongest]
}
