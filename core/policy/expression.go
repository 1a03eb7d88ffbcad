package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wardlet/wardlet/core/api"
)

// maxExpression bounds the expression of a group, in bytes, and so how deep it nests.
const maxExpression = 1024

// expression is what a group says of its members: the name of one, or others with "!",
// "&&" or "||" before or between them.
type expression struct {
	// op is 0 for a name, else '!', '&' or '|'.
	op   byte
	name string
	of   []*expression
}

// parseExpression reads names of policies, "!", "&&", "||" and parentheses. "!" binds
// most, then "&&".
func parseExpression(text string) (*expression, error) {
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

// peek is the next character that is no space, 0 at the end.
func (p *expressionParser) peek() byte {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// fault says what is wrong at the place that was read to.
func (p *expressionParser) fault(want string) error {
	if p.peek() == 0 {
		return fmt.Errorf("%s, found the end", want)
	}
	return fmt.Errorf("%s, found %.40q", want, p.text[p.at:])
}

// operands reads what stands between "||", or between "&&".
func (p *expressionParser) operands(op byte) (*expression, error) {
	below := p.operand
	if op == '|' {
		below = func() (*expression, error) { return p.operands('&') }
	}
	e := &expression{op: op}
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
func (p *expressionParser) operand() (*expression, error) {
	switch c := p.peek(); c {
	case '!':
		p.at++
		e, err := p.operand()
		return &expression{op: '!', of: []*expression{e}}, err
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
	return &expression{name: rest[:end]}, nil
}

// isLabelRune reports whether a DNS label may have it.
func isLabelRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-'
}

// names are those that stand in it, each once, in their order.
func (e *expression) names() (all []string) {
	if e.op == 0 {
		return []string{e.name}
	}
	for _, x := range e.of {
		for _, name := range x.names() {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// count is how many names stand in it, each as often as it does.
func (e *expression) count() (n int) {
	if e.op == 0 {
		return 1
	}
	for _, x := range e.of {
		n += x.count()
	}
	return n
}

// value is what comes of the members' answers. Allow is true, Deny false, and Hold not
// known yet: it decides only where the others do not. Abstain counts as if the name did not
// stand there.
func (e *expression) value(of func(name string) api.Answer) api.Answer {
	switch e.op {
	case 0:
		return of(e.name)
	case '!':
		switch v := e.of[0].value(of); v {
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
		if i := slices.Index(order, x.value(of)); i >= 0 {
			strongest = min(strongest, i)
		}
	}
	if strongest == len(order) {
		return api.Abstain
	}
	return order[strongest]
}
